//! Vertex stages on the CPU, for draws whose fragment programs read more than the machine interpolates (T-VARY).

use std::time::Instant;

use vc4_shaders::binding::Descriptor;
use vc4_shaders::relay::GROUP;
use vc4_shaders_cpu as cpu;

use super::bindings::Bound;
use super::images::{BoundImages, Surfaces};
use crate::foundation::error::Error;
use crate::foundation::timeout;
use crate::pipeline::RelayKernel;

/// Vertices to be shaded.
pub struct Vertices<'a> {
    /// How many; not 0.
    pub count: u32,
    /// Their attributes, as [`vc4_shaders::relay`] describes them.
    pub attributes: &'a mut [u32],
    /// Push constants, with what the draw says of itself behind the application's.
    pub push: &'a [u32],
}

/// Runs a vertex stage; what it stores, [`RelayKernel::words`] words a vertex.
pub fn shade(kernel: &RelayKernel, bound: &dyn Bound, vertices: Vertices<'_>) -> Result<Vec<u32>, Error> {
    let Vertices { count, attributes, push } = vertices;
    let mut outputs = vec![0; count as usize * kernel.words as usize];
    let mut range = |place: &Descriptor| match *place {
        Descriptor::ATTRIBUTES => Ok(words(attributes)),
        Descriptor::OUTPUTS => Ok(words(&mut outputs)),
        place => bound.range(place),
    };
    let buffers = kernel.cpu.buffers().iter().map(&mut range).collect::<Result<Vec<_>, Error>>()?;
    let surfaces = Surfaces::new(kernel.cpu.images(), bound)?;
    let images = BoundImages::new(kernel.cpu.images(), &surfaces, bound);
    let groups = [count.div_ceil(GROUP), 1, 1];
    let dispatch = cpu::Dispatch {
        base: [0; 3],
        groups,
        count: groups,
        push,
        buffers: &buffers,
        images: &images,
        deadline: timeout::compute().and_then(|most| Instant::now().checked_add(most)),
    };
    // SAFETY: attributes and outputs are borrowed for longer than this runs and used by nobody else meanwhile; the other ranges
    // lie in mapped BOs that the draw's state holds, cut to them by `Bound::range`, and are only read. Whoever builds the draw has
    // waited for the GPU where it writes what kernels read.
    let run = unsafe { kernel.cpu.run(&dispatch) };
    run.map_err(|halt| Error::Dispatch(format!("the vertex stage of a draw on the CPU: {halt}")))?;
    Ok(outputs)
}

/// Words of the host as a kernel sees them.
fn words(words: &mut [u32]) -> cpu::Range {
    let bytes = u32::try_from(size_of_val(words)).unwrap_or(u32::MAX);
    cpu::Range { address: words.as_mut_ptr().cast(), bytes }
}
