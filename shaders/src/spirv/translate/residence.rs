//! Where the variables of a compute shader live: in slots, as values, unless they are better off in memory.
//!
//! An index that is not constant makes a slot's every access a choice among all elements. Memory has an address instead, so
//! that long variables with such an index live there, and very long ones in any case. What an access chain leads back to may
//! be a parameter: whatever is passed for it then counts as indexed, too. A variable that only ever holds one constant, as
//! compilers make them for tables, shares the constant's copy, which is stored once at the start.

use rustc_hash::{FxHashMap, FxHashSet};
use spirv::{GlslStd450Op, Op, StorageClass};

use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::module::Module;
use crate::spirv::module::function::Function;
use crate::spirv::types::{Kind, Ty};

/// Scalars that a variable with an index that is not constant may have as slots.
const LONG: u32 = 16;

/// Scalars that any variable may have as slots.
const VERY_LONG: u32 = 256;

/// What is known of a module's variables before the translation.
#[derive(Debug, Default)]
pub struct Residence {
    /// Variables that live in memory.
    in_memory: FxHashSet<Id>,
    /// Variables that hold one constant, with its id.
    tables: FxHashMap<Id, Id>,
    /// Whatever a reachable instruction names.
    named: FxHashSet<Id>,
}

/// The uses of pointers, as far as they have been looked at.
#[derive(Default)]
struct Uses {
    /// Variables and parameters with an index that is not constant.
    indexed: Vec<Id>,
    /// What is passed for parameters.
    passed: FxHashMap<Id, Vec<Id>>,
    /// Constants that are stored to all of a variable; `None` for any other store.
    stored: FxHashMap<Id, Vec<Option<Id>>>,
    /// Variables of functions, with their initializers.
    locals: Vec<(Id, Ty, Option<Id>)>,
}

impl Residence {
    /// Of the variables that the entry point's function and those that it calls use.
    pub fn of(module: &Module) -> Residence {
        let mut residence = Residence::default();
        let mut uses = Uses::default();
        let mut seen = FxHashSet::default();
        let mut open = vec![module.entry];
        while let Some(id) = open.pop() {
            let Some(function) = module.functions.get(&id).filter(|_| seen.insert(id)) else {
                continue;
            };
            for inst in function.blocks.iter().flat_map(|block| &block.body) {
                residence.named.extend(inst.ids());
                if inst.op == Op::FunctionCall {
                    open.extend(inst.ids().take(1));
                }
                uses.note(module, function, inst);
            }
        }
        residence.settle(module, uses);
        residence
    }

    fn settle(&mut self, module: &Module, mut uses: Uses) {
        let mut indexed = FxHashSet::default();
        while let Some(id) = uses.indexed.pop() {
            if indexed.insert(id) {
                uses.indexed.extend(uses.passed.get(&id).into_iter().flatten());
            }
        }
        let globals = module.globals.iter().filter(|global| global.class == StorageClass::Private);
        let globals = globals.map(|global| (global.inst.id, global.ty, global.initializer));
        for (id, ty, initializer) in globals.chain(uses.locals) {
            let scalars = module.types.scalars(ty);
            let fits = scalars <= LONG || scalars <= VERY_LONG && !indexed.contains(&id);
            if fits || !self.named.contains(&id) {
                continue;
            }
            self.in_memory.insert(id);
            let mut values = uses.stored.remove(&id).unwrap_or_default();
            values.extend(initializer.map(Some));
            let constant = values.first().copied().flatten();
            if let Some(constant) = constant.filter(|&first| values.iter().all(|&value| value == Some(first)))
            {
                self.tables.insert(id, constant);
            }
        }
    }

    /// Whether a variable lives in memory.
    pub fn is_in_memory(&self, variable: Id) -> bool {
        self.in_memory.contains(&variable)
    }

    /// The constant that a variable always holds.
    pub fn table(&self, variable: Id) -> Option<Id> {
        self.tables.get(&variable).copied()
    }

    /// The constants that variables always hold.
    pub fn constants(&self) -> Vec<Id> {
        let mut constants: Vec<Id> = self.tables.values().copied().collect();
        constants.sort_unstable();
        constants.dedup();
        constants
    }

    /// Whether anything that may run names an id.
    pub fn names(&self, id: Id) -> bool {
        self.named.contains(&id)
    }
}

impl Uses {
    fn note(&mut self, module: &Module, function: &Function, inst: &Inst) {
        let ids: Vec<Id> = inst.ids().collect();
        if inst.op == Op::Variable {
            let ty = module.types_of.get(&inst.id).map(|&ty| module.types.kind(ty));
            if let Some(&Kind::Pointer { to, .. }) = ty {
                self.locals.push((inst.id, to, ids.first().copied()));
            }
            return;
        }
        let Some(&first) = ids.first() else {
            return;
        };
        let root = function.root(first);
        match inst.op {
            Op::AccessChain | Op::InBoundsAccessChain
                if ids[1..].iter().any(|&index| module.constants.get(index).is_none()) =>
            {
                self.indexed.push(root);
            }
            Op::Store => {
                let whole = root == first;
                let constant = ids.get(1).copied().filter(|&id| whole && module.constants.get(id).is_some());
                self.stored.entry(root).or_default().push(constant);
            }
            Op::CopyMemory => self.stored.entry(root).or_default().push(None),
            Op::ExtInst if writes_memory(inst) => {
                for &id in &ids[1..] {
                    self.stored.entry(function.root(id)).or_default().push(None);
                }
            }
            Op::FunctionCall => {
                let Some(callee) = module.functions.get(&first) else {
                    return;
                };
                for (&parameter, &given) in callee.parameters.iter().zip(&ids[1..]) {
                    let given = function.root(given);
                    self.passed.entry(parameter).or_default().push(given);
                    // What the function does with it is not looked at.
                    self.stored.entry(given).or_default().push(None);
                }
            }
            _ => {}
        }
    }
}

/// Whether an extended instruction stores through a pointer.
pub fn writes_memory(inst: &Inst) -> bool {
    let number = |op: GlslStd450Op| op as u32;
    let found = inst.operands.get(1);
    matches!(
        found,
        Some(&Operand::LiteralExtInstInteger(op))
            if op == number(GlslStd450Op::Modf) || op == number(GlslStd450Op::Frexp)
    )
}
