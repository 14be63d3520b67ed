//! Figures of the book: rows of boxes with arrows between them, from text to SVG.
//!
//! A line is `row`, `gap`, `box NAME TONE TEXT` (with `|` between lines of the text), or `arrow FROM TO LABEL`.

use std::collections::BTreeMap;

const WIDTH: u32 = 200;
const LINE: u32 = 20;
const BETWEEN: u32 = 56;
const MARGIN: u32 = 16;

/// What a box stands for: a word and its colour.
const TONES: [(&str, &str); 4] =
    [("plain", "#f4f4f4"), ("code", "#dbe9f8"), ("data", "#fdf1cf"), ("chip", "#d9f0dc")];

/// A box at its place.
struct Cell {
    lines: Vec<String>,
    color: &'static str,
    x: u32,
    y: u32,
    height: u32,
}

/// The picture of a source; what is wrong with it otherwise.
pub fn svg(source: &str) -> Result<String, String> {
    let mut rows: Vec<Vec<Option<(String, Cell)>>> = Vec::new();
    let mut arrows = Vec::new();
    for line in source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "row" => rows.push(Vec::new()),
            "gap" => rows.last_mut().ok_or("a gap stands in no row")?.push(None),
            "box" => {
                let cell = cell(rest).ok_or_else(|| format!("no box: {line}"))?;
                rows.last_mut().ok_or("a box stands in no row")?.push(Some(cell));
            }
            "arrow" => {
                let mut words = rest.splitn(3, ' ');
                let (from, to) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                arrows.push((from, to, words.next().unwrap_or_default()));
            }
            _ => return Err(format!("no figure has {word}")),
        }
    }
    let columns = rows.iter().map(Vec::len).max().ok_or("a figure has no rows")? as u32;
    let width = 2 * MARGIN + columns * WIDTH + columns.saturating_sub(1) * BETWEEN;
    let mut cells = BTreeMap::new();
    let mut y = MARGIN;
    for row in rows {
        let count = row.len() as u32;
        let height = row.iter().flatten().map(|(_, cell)| cell.height).max().unwrap_or(LINE);
        // Short rows stand in the middle.
        let taken = count * WIDTH + count.saturating_sub(1) * BETWEEN;
        let mut x = (width - taken) / 2;
        for (name, mut cell) in
            row.into_iter().map(|cell| cell.unzip()).map(|(name, cell)| (name.unwrap_or_default(), cell))
        {
            if let Some(cell) = &mut cell {
                (cell.x, cell.y, cell.height) = (x, y, height);
            }
            if let Some(cell) = cell {
                cells.insert(name, cell);
            }
            x += WIDTH + BETWEEN;
        }
        y += height + BETWEEN;
    }
    let height = y - BETWEEN + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"14\" text-anchor=\"middle\">\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" \
         refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (from, to, label) in arrows {
        let place = |name: &str| cells.get(name).ok_or_else(|| format!("an arrow knows no {name}"));
        svg += &arrow(place(from)?, place(to)?, label);
    }
    for cell in cells.values() {
        svg += &cell.svg();
    }
    Ok(svg + "</svg>\n")
}

fn cell(text: &str) -> Option<(String, Cell)> {
    let mut words = text.splitn(3, ' ');
    let (name, tone) = (words.next()?, words.next()?);
    let color = TONES.iter().find(|row| row.0 == tone)?.1;
    let lines: Vec<String> = words.next()?.split('|').map(|line| line.trim().to_owned()).collect();
    let height = LINE * lines.len() as u32 + LINE;
    Some((name.to_owned(), Cell { lines, color, x: 0, y: 0, height }))
}

impl Cell {
    fn svg(&self) -> String {
        let mut svg = format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{WIDTH}\" height=\"{}\" rx=\"6\" fill=\"{}\" stroke=\"#555\"/>\n",
            self.x, self.y, self.height, self.color
        );
        let text = LINE * self.lines.len() as u32;
        let mut y = self.y + (self.height - text) / 2 + 15;
        for line in &self.lines {
            svg += &format!("<text x=\"{}\" y=\"{y}\">{}</text>\n", self.x + WIDTH / 2, escape(line));
            y += LINE;
        }
        svg
    }
}

/// A straight line: between the sides of boxes of one row, else from the lower edge of one to the upper edge of the other.
fn arrow(from: &Cell, to: &Cell, label: &str) -> String {
    let middle = |cell: &Cell| (cell.x + WIDTH / 2, cell.y + cell.height / 2);
    let (start, end) = if from.y == to.y {
        let (left, right) = (from.x < to.x, from.x + WIDTH);
        if left {
            ((right, middle(from).1), (to.x, middle(to).1))
        } else {
            ((from.x, middle(from).1), (to.x + WIDTH, middle(to).1))
        }
    } else if from.y < to.y {
        ((middle(from).0, from.y + from.height), (middle(to).0, to.y))
    } else {
        ((middle(from).0, from.y), (middle(to).0, to.y + to.height))
    };
    let mut svg = format!(
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#555\" marker-end=\"url(#tip)\"/>\n",
        start.0, start.1, end.0, end.1
    );
    if !label.is_empty() {
        let (x, y) = (u32::midpoint(start.0, end.0), u32::midpoint(start.1, end.1));
        svg += &format!(
            "<text x=\"{x}\" y=\"{}\" font-size=\"12\" stroke=\"#fff\" stroke-width=\"4\" paint-order=\"stroke\">{}</text>\n",
            y + 4,
            escape(label)
        );
    }
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_stand_in_rows_with_arrows_between() {
        let picture = svg(
            "row\nbox a code one | two\nbox b data <three>\nrow\nbox c chip four\narrow a b\narrow b c go\n",
        )
        .expect("a figure");
        assert_eq!(picture.matches("<rect ").count(), 4, "the ground and three boxes");
        assert_eq!(picture.matches("<line ").count(), 2);
        assert!(
            picture.contains("&lt;three&gt;")
                && picture.contains(">go</text>")
                && picture.contains(">two</text>")
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(svg("").is_err() && svg("box a code text").is_err() && svg("row\nbox a pink text").is_err());
        assert!(svg("row\nbox a code text\narrow a b").is_err() && svg("circle").is_err());
    }
}
