//! Who takes what from whom, and where that runs in circles.

use std::collections::BTreeMap;

use petgraph::algo::greedy_feedback_arc_set;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::source::{FileId, Source};

/// One file takes a name from another.
#[derive(Clone)]
pub struct Import {
    pub from: FileId,
    pub to: FileId,
    /// The first name that is taken.
    pub name: String,
    pub line: usize,
}

/// Rooms that lie beside each other, or files, with what each takes from the others.
pub struct Level {
    /// The folder, from the crate's root on; empty for the root, `None` for the files of the whole crate.
    pub folder: Option<String>,
    names: Vec<String>,
    graph: DiGraph<usize, Import>,
}

/// Places that reach each other.
pub struct Circle {
    pub members: Vec<String>,
    /// Imports that would have to go, as few as a quick search finds.
    pub climbing: Vec<Import>,
}

/// Every import of the crate, each pair of files once.
pub fn imports(source: &Source) -> Vec<Import> {
    let mut found = BTreeMap::new();
    for (id, module) in source.modules.iter().enumerate() {
        for mention in &module.mentions {
            let Some(to) = source.definition(id, mention) else { continue };
            if to != module.file {
                found.entry((module.file, to)).or_insert_with(|| Import {
                    from: module.file,
                    to,
                    name: mention.segments.last().cloned().unwrap_or_default(),
                    line: mention.line,
                });
            }
        }
    }
    found.into_values().collect()
}

/// The crate's files as one level, and every folder's rooms as another.
pub fn levels(source: &Source, imports: &[Import]) -> Vec<Level> {
    let mut levels: BTreeMap<Option<String>, Level> = BTreeMap::new();
    // Rooms that nobody is tied to are rooms, too.
    for file in &source.files {
        if let Some((room, folder)) = file.place.split_last() {
            level(&mut levels, Some(folder.join("/"))).node(room.clone());
        }
    }
    let mut add = |folder: Option<String>, from: String, to: String, import: &Import| {
        level(&mut levels, folder).add(from, to, import);
    };
    for import in imports {
        let (from, to) = (&source.files[import.from].place, &source.files[import.to].place);
        let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
        let file = |id: FileId| source.files[id].path.display().to_string();
        // A folder's own page is a room beside the others in it.
        let page = |id: FileId| file(id).rsplit('/').next().unwrap_or_default().to_owned();
        let room = |id: FileId| source.files[id].place.get(shared).cloned().unwrap_or_else(|| page(id));
        add(Some(from[..shared].join("/")), room(import.from), room(import.to), import);
        add(None, file(import.from), file(import.to), import);
    }
    levels.into_values().collect()
}

fn level(levels: &mut BTreeMap<Option<String>, Level>, folder: Option<String>) -> &mut Level {
    let empty = || Level { folder: folder.clone(), names: Vec::new(), graph: DiGraph::new() };
    levels.entry(folder.clone()).or_insert_with(empty)
}

impl Level {
    fn add(&mut self, from: String, to: String, import: &Import) {
        let (from, to) = (self.node(from), self.node(to));
        if self.graph.find_edge(from, to).is_none() {
            self.graph.add_edge(from, to, import.clone());
        }
    }

    fn node(&mut self, name: String) -> NodeIndex {
        match self.names.iter().position(|known| *known == name) {
            Some(index) => NodeIndex::new(index),
            None => {
                self.names.push(name);
                self.graph.add_node(self.names.len() - 1)
            }
        }
    }

    /// Where imports run in circles.
    pub fn circles(&self) -> Vec<Circle> {
        let groups = tarjan_scc(&self.graph).into_iter().filter(|group| group.len() > 1);
        groups
            .map(|group| {
                let mut members: Vec<String> =
                    group.iter().map(|node| self.names[node.index()].clone()).collect();
                members.sort();
                let inside = self.graph.filter_map(
                    |node, name| group.contains(&node).then_some(*name),
                    |_, import| Some(import.clone()),
                );
                let climbing = greedy_feedback_arc_set(&inside).map(|edge| edge.weight().clone()).collect();
                Circle { members, climbing }
            })
            .collect()
    }

    /// The rooms from the top floor down; a room stands above all that it imports. `None` while there is a circle.
    pub fn floors(&self) -> Option<Vec<Vec<&str>>> {
        let order = petgraph::algo::toposort(&self.graph, None).ok()?;
        let mut height = vec![0; self.names.len()];
        for node in order.into_iter().rev() {
            let below = self.graph.neighbors(node).map(|to| height[to.index()] + 1).max();
            height[node.index()] = below.unwrap_or(0);
        }
        let top = height.iter().copied().max()?;
        let mut floors = vec![Vec::new(); top + 1];
        for (name, height) in self.names.iter().zip(height) {
            floors[top - height].push(name.as_str());
        }
        floors.iter_mut().for_each(|floor| floor.sort_unstable());
        Some(floors)
    }
}
