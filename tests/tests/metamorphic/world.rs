//! What programs read: values that follow from a seed, as the interpreters and the simulated QPU ask for them.

use vc4_shaders::ir::interp::{self, Environment};
use vc4_shaders::ir::{BuiltinInput, Output};
use vc4_shaders::program::Descriptor;
use vc4_tests::runner::Buffers;

use crate::ast::{SOURCES, STORED, Source, TABLE};
use crate::random::Random;
use crate::value::{Base, LANES, Value};

pub type Lanes = [u32; LANES];

/// The world of a batch: values by source.
pub struct World {
    pub inputs: Vec<[Value; SOURCES.len()]>,
    pub table: [Value; TABLE],
    pub buffers: Buffers,
}

pub fn world(seed: u64, stored: &[Value]) -> World {
    let mut random = Random(seed);
    let mut vector = |base| -> Value {
        std::array::from_fn(|_| {
            let word = random.word();
            match base {
                Base::Float => (((word % 1024) as f32 - 512.0) / 16.0).to_bits(),
                _ if word % 3 == 0 => word >> 8 & 31,
                _ => word >> (word & 31),
            }
        })
    };
    let shared: [Value; SOURCES.len()] = std::array::from_fn(|n| vector(SOURCES[n].base()));
    let inputs = (0..LANES)
        .map(|_| {
            std::array::from_fn(|n| match SOURCES[n] {
                Source::InputInt | Source::InputUint | Source::InputFloat => vector(SOURCES[n].base()),
                _ => shared[n],
            })
        })
        .collect();
    let table = std::array::from_fn(|_| vector(Base::Int));
    let shared_of = |source: Source| shared[source.place()];
    let mut uniform: Vec<u32> = vec![0, 1, 0, 0, 0, 1f32.to_bits(), 0, 0];
    for source in [Source::UniformInt, Source::UniformUint, Source::UniformFloat] {
        uniform.extend(shared_of(source));
    }
    uniform.extend(table.iter().flatten());
    uniform.extend(stored.iter().flatten());
    uniform.resize(20 + 4 * (TABLE + STORED), 0);
    let push = [shared_of(Source::PushInt), shared_of(Source::PushFloat)].concat();
    World { inputs, table, buffers: Buffers { uniform, push } }
}

impl World {
    pub fn attribute(&self, location: u32, component: u32) -> Lanes {
        std::array::from_fn(|lane| match location {
            0 => [0, 0, 0, 1f32.to_bits()][component as usize],
            n => self.inputs[lane][n as usize - 1][component as usize],
        })
    }
}

/// The world as the IR interpreter asks for it; inputs by location.
pub struct Seen<'a> {
    pub world: &'a World,
    pub varyings: Option<&'a interp::Outcome>,
}

impl Environment for Seen<'_> {
    fn input(&mut self, location: u32, component: u8) -> Lanes {
        match self.varyings {
            None => self.world.attribute(location, component.into()),
            Some(outcome) => outcome.output(Output::User { location, component }),
        }
    }

    fn builtin(&mut self, _: BuiltinInput) -> Lanes {
        [0; LANES]
    }

    fn ubo(&mut self, _: Descriptor, offset: u32) -> u32 {
        self.world.buffers.uniform.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.world.buffers.push[offset as usize / 4]
    }
}
