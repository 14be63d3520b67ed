//! Stage inputs: attributes become VPM rows, varyings become the interpolator's numbered results, built-ins
//! become payload registers (vulkan-on-vc4.md §8.1–§8.2, qpu.md §4.2–§4.3).

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::EntitySet;
use vc4::hw::{VARYINGS, sample_offsets_4x};
use vc4::image::layout::MSAA_SAMPLES;
use vc4::state::vertex_fetch::{Packing, VertexFormat, emit_fetch};
use vc4::state::{Emitter, RasterMap, StateUniform};

use super::corners::Corner;
use super::error::LowerError;
use crate::binding::UniformSlot;
use crate::ir::{Builder, BuiltinInput, Interpolation, Op, Shader, Value};
use crate::pass::rewrite::emitter::{IrEmitter, recip};
use crate::pass::rewrite::{Action, prepend, rewrite};
use crate::program::{AttributeArray, AttributeSource};
use crate::state::{PipelineState, VertexAttribute};

/// Attribute arrays of a shader record (v3d.md §6.1).
const MAX_ARRAYS: usize = 8;
/// Words per vertex that the record's byte fields can describe (v3d.md §6.1).
const MAX_ROWS: u32 = 63;
/// Bytes per vertex of joined arrays; Broadcom's driver joins no more (vulkan-on-vc4.md, T-ATTR).
const MAX_JOINED_BYTES: u32 = 60;
/// Varyings that points put in front: the point coordinate x and y.
const POINT_VARYINGS: u32 = 2;
/// Varyings that lines put in front: the place across the line.
const LINE_VARYINGS: u32 = 1;

/// One scalar that the vertex program hands to the fragment program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Varying {
    /// Location.
    pub location: u32,
    /// Component 0–3.
    pub component: u8,
    /// How it is interpolated.
    pub interpolation: Interpolation,
}

/// What a fragment program reads.
#[derive(Clone, Debug, Default)]
pub struct FragmentInterface {
    /// In hardware order.
    pub varyings: Vec<Varying>,
    /// Bit n: varying n is flat.
    pub flat: u32,
    /// Hardware varyings in front of the first one.
    pub implicit: u32,
}

impl FragmentInterface {
    /// Number of varyings that the program must read.
    pub fn inputs(&self) -> u32 {
        self.implicit + self.varyings.len() as u32
    }

    /// Bit n: hardware varying n, implicit ones counted, is flat.
    pub fn flat_inputs(&self) -> u64 {
        u64::from(self.flat) << self.implicit
    }
}

/// Lowers the inputs of a fragment shader; only varyings that it reads are numbered, in the order of first use.
pub fn fragment(shader: &mut Shader, state: &PipelineState) -> Result<FragmentInterface, LowerError> {
    let implicit = implicit(state);
    let varyings = used_varyings(shader);
    if varyings.len() > VARYINGS {
        return Err(LowerError::TooManyVaryings { count: varyings.len(), limit: VARYINGS });
    }
    let samples = Samples::new(state);
    let is_moved: fn(Interpolation) -> bool = match (state.multisample.four_samples, samples.shaded) {
        (false, _) => |_| false,
        (true, None) => Interpolation::is_centroid,
        (true, Some(_)) => Interpolation::is_at_sample,
    };
    let moves = moved(shader, &varyings, is_moved);
    let flat = (0..).zip(&varyings).fold(0, |mask, (n, varying): (u32, &Varying)| {
        mask | u32::from(varying.interpolation == Interpolation::Flat) << n
    });
    let (values, moved) = prepend(shader, |b| {
        let values: Vec<Value> =
            (0..implicit + varyings.len() as u32).map(|n| b.emit(Op::Varying(n), &[])[0]).collect();
        let values =
            match varyings.iter().any(|varying| varying.interpolation == Interpolation::NoPerspective) {
                true => linear(b, values, implicit as usize, &varyings),
                false => values,
            };
        let moved = match (moves.contains(&true), samples.shaded) {
            (true, None) => to_centroid(b, &values[implicit as usize..], &moves, &samples),
            (true, Some(sample)) => {
                to_sample(b, &values[implicit as usize..], &moves, samples.offset(sample))
            }
            (false, _) => vec![None; varyings.len()],
        };
        (values, moved)
    });
    let in_part = state.raster == RasterMap::Part;
    let Ok(()) = rewrite(shader, |b, data| {
        Ok::<_, std::convert::Infallible>(match data.op {
            Op::LoadInput { location, component, interpolation } => {
                let center = interpolation.at_center();
                let wanted = Varying { location, component, interpolation: center };
                let index = varyings.iter().position(|varying| *varying == wanted);
                // Loads that nobody uses have no number.
                match index {
                    Some(index) => Action::with(match moved[index] {
                        Some(moved) if is_moved(interpolation) => moved,
                        _ => values[implicit as usize + index],
                    }),
                    None => Action::with(b.word(0)),
                }
            }
            Op::LoadBuiltin(builtin) => {
                Action::with(fragment_builtin(b, builtin, &values, implicit, &samples, in_part))
            }
            _ => Action::Keep,
        })
    });
    Ok(FragmentInterface { varyings, flat, implicit })
}

/// Varyings that the machine puts in front.
pub(super) fn implicit(state: &PipelineState) -> u32 {
    match (state.points, state.lines) {
        (true, _) => POINT_VARYINGS,
        (false, true) => LINE_VARYINGS,
        (false, false) => 0,
    }
}

/// noperspective: the vertex program multiplied by Wc, the perspective evaluation of that times 1/W is linear on
/// the screen.
fn linear(b: &mut Builder, mut values: Vec<Value>, implicit: usize, varyings: &[Varying]) -> Vec<Value> {
    let w = b.op(Op::PayloadW, &[]);
    let inverse = recip(b, w);
    for (value, varying) in values[implicit..].iter_mut().zip(varyings) {
        if varying.interpolation == Interpolation::NoPerspective {
            *value = b.op(Op::FMul, &[*value, inverse]);
        }
    }
    values
}

/// What a fragment stage reads, each once, in the order of first use.
pub(super) fn used_varyings(shader: &Shader) -> Vec<Varying> {
    let mut varyings: Vec<Varying> = Vec::new();
    let mut seen: EntitySet<Value> = EntitySet::new();
    for inst in shader.insts_in_order() {
        let data = &shader.insts[inst];
        // A request takes t first and is sent by s, so t had better be there first.
        let order: &[usize] = if matches!(data.op, Op::Sample(_)) { &[1, 2, 3, 0] } else { &[0, 1, 2, 3] };
        let early = order.iter().filter_map(|&n| data.args.get(n));
        for &arg in early.chain(&data.args) {
            let Op::LoadInput { location, component, interpolation } = shader.op(arg) else { continue };
            let varying = Varying { location, component, interpolation: interpolation.at_center() };
            if seen.insert(arg) && !varyings.contains(&varying) {
                varyings.push(varying);
            }
        }
    }
    varyings
}

/// Samples of a fragment.
#[derive(Clone, Copy)]
struct Samples {
    /// Those that an invocation may cover.
    mask: u32,
    /// The pipeline leaves some out, before the fragment stage sees what is covered (Vulkan 1.0 §25.4).
    masked: bool,
    /// The only one that is shaded.
    shaded: Option<u8>,
    /// Where each lies from the pixel's centre.
    offsets: [[f32; 2]; MSAA_SAMPLES as usize],
}

impl Samples {
    fn new(state: &PipelineState) -> Samples {
        let offsets = sample_offsets_4x(state.machine.sample_positions);
        let masked = state.multisample.sample_mask;
        match (state.multisample.four_samples, state.sample) {
            (true, None) => Samples { mask: (1 << MSAA_SAMPLES) - 1, masked, shaded: None, offsets },
            (true, Some(sample)) => Samples { mask: 1 << sample, masked, shaded: Some(sample), offsets },
            // A pixel is covered where its centre is.
            (false, _) => Samples { mask: 1, masked: false, shaded: None, offsets: Default::default() },
        }
    }

    /// Where a sample lies from the pixel's centre.
    fn offset(&self, sample: u8) -> [f32; 2] {
        self.offsets.get(usize::from(sample)).copied().unwrap_or_default()
    }

    /// Where the shaded sample lies in the pixel, along an axis.
    fn place(&self, axis: u8) -> f32 {
        0.5 + self.shaded.map_or(0.0, |sample| self.offset(sample)[usize::from(axis & 1)])
    }
}

/// Whether a fragment stage asks for an invocation per sample.
pub fn is_per_sample(shader: &Shader) -> bool {
    let asks = |op| match op {
        Op::LoadInput { interpolation, .. } => interpolation.is_per_sample(),
        Op::LoadBuiltin(builtin) => {
            matches!(builtin, BuiltinInput::SampleId | BuiltinInput::SamplePosition(_))
        }
        _ => false,
    };
    shader.insts_in_order().into_iter().any(|inst| asks(shader.insts[inst].op))
}

/// A value at an offset from the pixel's centre.
fn moved_by(b: &mut Builder, value: Value, [x, y]: [Value; 2]) -> Value {
    let (dx, dy) = (b.op(Op::Ddx, &[value]), b.op(Op::Ddy, &[value]));
    let (dx, dy) = (b.op(Op::FMul, &[dx, x]), b.op(Op::FMul, &[dy, y]));
    let step = b.op(Op::FAdd, &[dx, dy]);
    b.op(Op::FAdd, &[value, step])
}

/// The chosen values at a sample.
fn to_sample(b: &mut Builder, values: &[Value], moves: &[bool], offset: [f32; 2]) -> Vec<Option<Value>> {
    let offset = offset.map(|axis| b.float(axis));
    values.iter().zip(moves).map(|(&value, &moves)| moves.then(|| moved_by(b, value, offset))).collect()
}

/// Which varyings are read elsewhere than at the pixel's centre.
fn moved(shader: &Shader, varyings: &[Varying], is_moved: fn(Interpolation) -> bool) -> Vec<bool> {
    let mut centroids = vec![false; varyings.len()];
    for inst in shader.insts_in_order() {
        let Op::LoadInput { location, component, interpolation } = shader.insts[inst].op else { continue };
        let center = Varying { location, component, interpolation: interpolation.at_center() };
        if is_moved(interpolation) {
            varyings
                .iter()
                .position(|varying| *varying == center)
                .into_iter()
                .for_each(|at| centroids[at] = true);
        }
    }
    centroids
}

/// The chosen values where the primitive covers the pixel: at the centre if all samples are covered, else at the first
/// covered one, along the values' slopes.
fn to_centroid(
    b: &mut Builder,
    values: &[Value],
    centroids: &[bool],
    samples: &Samples,
) -> Vec<Option<Value>> {
    let all = (1 << MSAA_SAMPLES) - 1;
    let covered = {
        let (covered, all) = (b.op(Op::Coverage, &[]), b.word(all));
        b.op(Op::And, &[covered, all])
    };
    let (zero, full) = (b.word(0), b.word(all));
    let mut offset = [b.float(0.0), b.float(0.0)];
    for (sample, place) in samples.offsets.into_iter().enumerate().rev() {
        let bit = b.word(1 << sample);
        let bit = b.op(Op::And, &[covered, bit]);
        let here = b.op(Op::INe, &[bit, zero]);
        for (axis, offset) in place.into_iter().zip(&mut offset) {
            let from_center = b.float(axis);
            *offset = b.select(here, from_center, *offset);
        }
    }
    let whole = b.op(Op::IEq, &[covered, full]);
    let center = b.float(0.0);
    let [x, y] = offset.map(|offset| b.select(whole, center, offset));
    values
        .iter()
        .zip(centroids)
        .map(|(&value, &centroid)| centroid.then(|| moved_by(b, value, [x, y])))
        .collect()
}

fn fragment_builtin(
    b: &mut Builder,
    builtin: BuiltinInput,
    values: &[Value],
    implicit: u32,
    samples: &Samples,
    in_part: bool,
) -> Value {
    let axis_pixel = |axis: u8| if axis == 0 { Op::PixelX } else { Op::PixelY };
    let corner = |axis: u8| Op::Uniform(UniformSlot::State(StateUniform::Corner(axis)));
    match builtin {
        BuiltinInput::FragCoord(component @ 0..=1) => {
            let pixel = b.op(axis_pixel(component), &[]);
            let pixel = b.op(Op::SToF, &[pixel]);
            let place = b.float(samples.place(component));
            let place = b.op(Op::FAdd, &[pixel, place]);
            if !in_part {
                return place;
            }
            let corner = b.op(corner(component), &[]);
            b.op(Op::FAdd, &[place, corner])
        }
        BuiltinInput::Pixel(axis) => {
            let pixel = b.op(axis_pixel(axis), &[]);
            if !in_part {
                return pixel;
            }
            let corner = b.op(corner(axis), &[]);
            let corner = b.op(Op::FToS, &[corner]);
            b.iadd(pixel, corner)
        }
        BuiltinInput::FragCoord(2) => {
            let z = b.op(Op::PayloadZ, &[]);
            let z = b.op(Op::SToF, &[z]);
            let unit = b.float(1.0 / vc4::hw::DEPTH_MAX as f32);
            b.op(Op::FMul, &[z, unit])
        }
        BuiltinInput::FragCoord(_) => {
            let w = b.op(Op::PayloadW, &[]);
            recip(b, w)
        }
        BuiltinInput::FrontFacing => {
            let back = b.op(Op::RevFlag, &[]);
            let zero = b.word(0);
            b.op(Op::IEq, &[back, zero])
        }
        BuiltinInput::SampleMask => {
            let (covered, all) = (b.op(Op::Coverage, &[]), b.word(samples.mask));
            let covered = b.op(Op::And, &[covered, all]);
            if !samples.masked {
                return covered;
            }
            let mask = b.op(Op::Uniform(UniformSlot::State(StateUniform::SampleMask)), &[]);
            b.op(Op::And, &[covered, mask])
        }
        BuiltinInput::SampleOffset { sample, axis } => b.float(samples.offset(sample)[usize::from(axis & 1)]),
        BuiltinInput::SampleId => b.word(samples.shaded.unwrap_or(0).into()),
        BuiltinInput::SamplePosition(axis) => b.float(samples.place(axis)),
        // Elements of a quad outside of the primitive cover no sample (qpu.md §1.3).
        BuiltinInput::HelperInvocation => {
            let (covered, zero) = (b.op(Op::Coverage, &[]), b.word(0));
            b.op(Op::IEq, &[covered, zero])
        }
        // Without points its value is undefined.
        BuiltinInput::PointCoord(_) if implicit != POINT_VARYINGS => b.word(0),
        BuiltinInput::PointCoord(0) => values[0],
        BuiltinInput::PointCoord(_) => {
            // The hardware's y runs against the row number (v3d.md §9.6).
            let one = b.float(1.0);
            b.op(Op::FSub, &[one, values[1]])
        }
        BuiltinInput::Draw(word) => b.op(Op::Uniform(UniformSlot::Draw(word)), &[]),
        BuiltinInput::VertexIndex | BuiltinInput::InstanceIndex | BuiltinInput::Invocation(_) => b.word(0),
    }
}

/// The attribute arrays of a pipeline.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// In record order.
    pub arrays: Vec<AttributeArray>,
    /// VPM rows of the vertex program.
    pub vertex_rows: u32,
    /// VPM rows of the coordinate program.
    pub coordinate_rows: u32,
}

/// Lowers the inputs of both programs of a vertex stage; they share the arrays of the record, and each
/// loads the arrays that it reads.
pub fn vertex(
    vertex: &mut Shader,
    coordinate: &mut Shader,
    state: &PipelineState,
) -> Result<Attributes, LowerError> {
    let mut uses = [used_words(vertex, state), used_words(coordinate, state)];
    let mut sources: BTreeMap<AttributeKey, u32> = BTreeMap::new();
    for (&key, &bytes) in uses.iter().flatten() {
        let entry = sources.entry(key).or_default();
        *entry = bytes.max(*entry);
    }
    if uses.iter().any(BTreeMap::is_empty) {
        sources.insert(AttributeKey::Dummy, 4);
    }
    let keys = record_order(&sources, &uses);
    let Some(joined) = join(&keys, &sources) else {
        return Err(LowerError::TooManyAttributes { count: sources.len(), limit: MAX_ARRAYS });
    };
    // What shares an array is loaded together.
    for (at, &key) in keys.iter().enumerate() {
        let first = (0..=at).rev().find(|&at| !joined[at]).unwrap_or(0);
        let behind = keys[at + 1..].iter().zip(&joined[at + 1..]).take_while(|&(_, &joined)| joined);
        let group: Vec<AttributeKey> =
            keys[first..=at].iter().copied().chain(behind.map(|(&key, _)| key)).collect();
        for used in &mut uses {
            if group.iter().any(|member| used.contains_key(member)) {
                used.entry(key).or_insert(sources[&key]);
            }
        }
    }
    let mut rows = [0, 0];
    let mut first_rows: [BTreeMap<AttributeKey, u32>; 2] = Default::default();
    let mut arrays = Vec::new();
    for (&key, &joined) in keys.iter().zip(&joined) {
        let bytes = sources[&key];
        let mut offsets = [None, None];
        for program in 0..2 {
            let dummy = key == AttributeKey::Dummy && uses[program].is_empty();
            if dummy || uses[program].contains_key(&key) {
                first_rows[program].insert(key, rows[program]);
                offsets[program] = u8::try_from(4 * rows[program]).ok();
                rows[program] += bytes.div_ceil(4);
            }
        }
        let [vertex_offset, coordinate_offset] = offsets;
        arrays.push(AttributeArray { source: key.source(), bytes, joined, vertex_offset, coordinate_offset });
    }
    let most = rows[0].max(rows[1]);
    if most > MAX_ROWS {
        return Err(LowerError::AttributeWords { rows: most, limit: MAX_ROWS });
    }
    let [vertex_rows, coordinate_rows] = rows;
    lower_vertex(vertex, state, &first_rows[0], &sources)?;
    lower_vertex(coordinate, state, &first_rows[1], &sources)?;
    Ok(Attributes { arrays, vertex_rows, coordinate_rows })
}

/// The arrays in the order of the record: what both programs need in front, so that what is joined for want of arrays
/// burdens one program.
fn record_order(
    sources: &BTreeMap<AttributeKey, u32>,
    [_, coordinate]: &[BTreeMap<AttributeKey, u32>; 2],
) -> Vec<AttributeKey> {
    let mut keys: Vec<AttributeKey> = sources.keys().copied().collect();
    if keys.len() > MAX_ARRAYS {
        let is_data = |key: &AttributeKey| matches!(key, AttributeKey::Location(_));
        keys.sort_by_key(|key| (is_data(key), !coordinate.contains_key(key)));
    }
    keys
}

/// Which arrays share one with the array before them, so that the record can hold all; from the last on, and no more
/// than needed. `None` if they are still too many.
fn join(keys: &[AttributeKey], sources: &BTreeMap<AttributeKey, u32>) -> Option<Vec<bool>> {
    let mut joined = vec![false; keys.len()];
    let mut arrays = keys.len();
    let mut bytes = 0;
    for (at, key) in keys.iter().enumerate().rev() {
        if arrays <= MAX_ARRAYS {
            break;
        }
        let own = sources[key].next_multiple_of(4);
        // Behind this one stands the first of the group so far.
        let fits = bytes > 0 && bytes + own <= MAX_JOINED_BYTES && matches!(key, AttributeKey::Location(_));
        if fits {
            joined[at + 1] = true;
            arrays -= 1;
        }
        bytes = if fits { bytes + own } else { own };
    }
    (arrays <= MAX_ARRAYS).then_some(joined)
}

/// Order of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AttributeKey {
    Location(u32),
    VertexIndex,
    CornerIndex(u8),
    Place,
    Dummy,
}

impl AttributeKey {
    fn source(self) -> AttributeSource {
        match self {
            AttributeKey::Location(location) => match Corner::split(location) {
                (None, location) => AttributeSource::Location(location),
                (Some(corner), location) => AttributeSource::Corner { corner, location },
            },
            AttributeKey::VertexIndex => AttributeSource::VertexIndex,
            AttributeKey::CornerIndex(corner) => AttributeSource::CornerIndex(corner),
            AttributeKey::Place => AttributeSource::Place,
            AttributeKey::Dummy => AttributeSource::Dummy,
        }
    }
}

/// The corner whose vertex index a location stands for.
fn corner_index(location: u32) -> Option<u8> {
    match Corner::split(location) {
        (Some(corner), Corner::INDEX) => Some(corner),
        _ => None,
    }
}

fn attribute(state: &PipelineState, location: u32) -> Option<&VertexAttribute> {
    let (_, location) = Corner::split(location);
    state.attributes.iter().find(|attribute| attribute.location == location)
}

/// The word of an attribute that holds a component; `None` for components that the format lacks.
fn word_of(format: &VertexFormat, component: u8) -> Option<u32> {
    let component = match component {
        0 | 2 if format.swap_rb => 2 - u32::from(component),
        _ => u32::from(component),
    };
    (component < format.components() as u32).then_some(match format.packing {
        Packing::Words(_) => component,
        Packing::Halves(_) => component / 2,
        // Everything else is one word at most.
        _ => 0,
    })
}

/// Bytes of each array that a program reads: up to the last word that it needs.
fn used_words(shader: &Shader, state: &PipelineState) -> BTreeMap<AttributeKey, u32> {
    let mut uses = BTreeMap::new();
    let used: BTreeSet<Value> =
        shader.insts_in_order().iter().flat_map(|&inst| shader.insts[inst].args.iter().copied()).collect();
    for value in used {
        match shader.op(value) {
            Op::LoadInput { location, .. } if corner_index(location).is_some() => {
                uses.extend(corner_index(location).map(|corner| (AttributeKey::CornerIndex(corner), 4)));
            }
            Op::LoadInput { location: Corner::PLACE, .. } => {
                uses.insert(AttributeKey::Place, 4);
            }
            Op::LoadInput { location, component, .. } => {
                let Some(attribute) = attribute(state, location) else { continue };
                let Some(word) = word_of(&attribute.format, component) else { continue };
                if !attribute.per_instance {
                    let bytes = attribute.format.bytes().min(4 * (word + 1));
                    let entry: &mut u32 = uses.entry(AttributeKey::Location(location)).or_default();
                    *entry = bytes.max(*entry);
                }
            }
            Op::LoadBuiltin(BuiltinInput::VertexIndex) => {
                uses.insert(AttributeKey::VertexIndex, 4);
            }
            _ => {}
        }
    }
    uses
}

fn lower_vertex(
    shader: &mut Shader,
    state: &PipelineState,
    first_rows: &BTreeMap<AttributeKey, u32>,
    sources: &BTreeMap<AttributeKey, u32>,
) -> Result<(), LowerError> {
    let (components, index) = prepend(shader, |b| {
        let mut components: BTreeMap<u32, [Value; 4]> = BTreeMap::new();
        let mut index = None;
        let mut in_rows: Vec<(AttributeKey, u32)> =
            first_rows.iter().map(|(&key, &first)| (key, first)).collect();
        in_rows.sort_by_key(|&(_, first)| first);
        for (key, first) in in_rows {
            let rows: Vec<Value> = (first..first + sources[&key].div_ceil(4))
                .map(|row| b.emit(Op::VpmRead(row), &[])[0])
                .collect();
            match key {
                AttributeKey::Location(location) => {
                    if let Some(attribute) = attribute(state, location) {
                        components.insert(location, fetch(b, &attribute.format, rows)?);
                    }
                }
                AttributeKey::VertexIndex => {
                    let bias = b.op(Op::Uniform(UniformSlot::VertexIndexBias), &[]);
                    index = Some(b.op(Op::IAdd, &[rows[0], bias]));
                }
                AttributeKey::CornerIndex(corner) => {
                    let zero = b.word(0);
                    components.insert(Corner::index_of(corner), [rows[0], zero, zero, zero]);
                }
                AttributeKey::Place => {
                    let zero = b.word(0);
                    components.insert(Corner::PLACE, [rows[0], zero, zero, zero]);
                }
                AttributeKey::Dummy => {}
            }
        }
        for attribute in state.attributes.iter().filter(|attribute| attribute.per_instance) {
            let location = attribute.location;
            let words = (0..attribute.format.words() as u8)
                .map(|word| b.op(Op::Uniform(UniformSlot::InstanceAttribute { location, word }), &[]))
                .collect();
            components.insert(location, fetch(b, &attribute.format, words)?);
        }
        Ok::<_, LowerError>((components, index))
    })?;
    let Ok(()) = rewrite(shader, |b, data| {
        Ok::<_, std::convert::Infallible>(match data.op {
            Op::LoadInput { location, component, .. } => match components.get(&location) {
                Some(values) => Action::with(values[usize::from(component & 3)]),
                // No attribute, or only components that its format lacks.
                None => {
                    let integer = attribute(state, location).is_some_and(|a| a.format.numeric.is_integer());
                    let one = if integer { 1 } else { 1f32.to_bits() };
                    Action::with(b.word(if component == 3 { one } else { 0 }))
                }
            },
            Op::LoadBuiltin(BuiltinInput::VertexIndex) => Action::with(index.unwrap_or_else(|| b.word(0))),
            Op::LoadBuiltin(BuiltinInput::InstanceIndex) => {
                Action::with(b.op(Op::Uniform(UniformSlot::InstanceIndex), &[]))
            }
            Op::LoadBuiltin(BuiltinInput::Draw(word)) => {
                Action::with(b.op(Op::Uniform(UniformSlot::Draw(word)), &[]))
            }
            Op::LoadBuiltin(_) => Action::with(b.word(0)),
            _ => Action::Keep,
        })
    });
    Ok(())
}

/// The components of an attribute of which only the first words were loaded.
fn fetch(b: &mut Builder, format: &VertexFormat, mut words: Vec<Value>) -> Result<[Value; 4], LowerError> {
    let mut emitter = IrEmitter::new(b);
    while words.len() < format.words() {
        words.push(emitter.word(0));
    }
    Ok(emit_fetch(&mut emitter, format, &words)?)
}
