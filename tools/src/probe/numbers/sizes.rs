//! How large caches are: lines of memory that are looked up twice, and which of them had to be fetched again.

use vc4::cl::words::{MagFilter, MinFilter, TextureType};
use vc4::hw::LANES;
use vc4::image::Level;
use vc4_kernel_abi::perfmon::Event;

use super::super::experiments::common::{EDGE, all, draw, window};
use super::super::experiments::textures::{Form, Texture};
use super::counting::counts;
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::Draw;
use crate::jobs::programs::fragment;

type Answer = Result<Vec<Option<f64>>, Failure>;

/// Bytes of a line in all caches, and of the sixteen that one lookup of sixteen elements takes: a subtile (textures.md §4.2).
const LINE: u32 = 64;
const SUBTILE: u32 = LINE * LANES as u32;
/// Texels of an edge of a line's square, and of the image.
const SQUARE: f32 = 4.0;
const EDGE_PX: u32 = 1024;

/// An image larger than caches.
pub struct Image {
    texture: Texture,
    level: Level,
}

impl Image {
    pub fn new(bench: &Bench<'_>) -> Result<Image, Failure> {
        let form = Form::of(TextureType::Rgba8888, 4, EDGE_PX);
        let texture = form.filled(bench, |_, _, _, _| 0x55)?.filters(MagFilter::Nearest, MinFilter::Nearest);
        let level = Level::sampled(4, EDGE_PX, EDGE_PX).map_err(|error| Failure::Wrong(error.to_string()))?;
        Ok(Image { texture, level })
    }

    fn lines(&self, offsets: impl Iterator<Item = u32>, apart: bool) -> Result<Lines<'_>, Failure> {
        let wrong = || Failure::Wrong("a line behind the image".into());
        let places = offsets.map(|offset| self.level.element_at(offset).ok_or_else(wrong));
        Ok(Lines { texture: &self.texture, places: places.collect::<Result<_, _>>()?, apart })
    }

    /// All lines of so many bytes.
    pub fn all(&self, bytes: u32) -> Result<Lines<'_>, Failure> {
        self.lines((0..bytes / SUBTILE).map(|n| n * SUBTILE), true)
    }

    /// So many lines, each so far behind the one before.
    fn strided(&self, count: u32, stride: u32) -> Result<Lines<'_>, Failure> {
        self.lines((0..count).map(|n| n * stride), false)
    }
}

/// Lines of memory that one instance of a program looks up in turn.
pub struct Lines<'a> {
    texture: &'a Texture,
    /// The texel in the corner of the first line of each lookup.
    places: Vec<(u32, u32)>,
    /// Whether elements look up sixteen lines of a subtile, and not the same one.
    apart: bool,
}

impl Lines<'_> {
    fn count(&self) -> u64 {
        self.places.len() as u64 * if self.apart { LANES as u64 } else { 1 }
    }

    /// One instance that looks all of them up, so often.
    pub fn looked_up(&self, rounds: usize) -> Draw {
        self.draw(&self.places.repeat(rounds))
    }

    /// One instance that looks up lines in the corners of these texels.
    fn draw(&self, places: &[(u32, u32)]) -> Draw {
        let one = "sig_none ; r0 = fadd.always(r2, a, uni) ; nop = nop() ;\n\
            sig_none ; r1 = fadd.always(r3, a, uni) ; nop = nop() ;\n\
            sig_none ; tmu0_t = or.always(r1, r1) ; nop = nop() ;\n\
            sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop() ;\n\
            sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n";
        let code = format!(
            "sig_none ; r0 = or.always(a, a, elem) ; nop = nop() ;\n\
             sig_small_imm ; r2 = and.always(r0, b, nop, 3) ; nop = nop() ;\n\
             sig_small_imm ; r3 = shr.always(r0, b, nop, 2) ; nop = nop() ;\n\
             sig_none ; r2 = itof.always(r2, r2) ; nop = nop() ;\n\
             sig_none ; r3 = itof.always(r3, r3) ; nop = nop() ;\n\
             sig_none ; nop = nop(r0, r0, uni) ; r2 = fmul.always(r2, a) ;\n\
             sig_none ; nop = nop(r0, r0, uni) ; r3 = fmul.always(r3, a) ;\n\
             {}sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
            one.repeat(places.len())
        );
        let unit = 1.0 / EDGE_PX as f32;
        let step = if self.apart { SQUARE * unit } else { 0.0 };
        let mut uniforms = vec![step.to_bits(); 2];
        for &(x, y) in places {
            uniforms.extend([x, y].map(|at| ((at as f32 + 0.5) * unit).to_bits()));
            uniforms.extend(self.texture.words.bits());
        }
        let textures = vec![self.texture.bo; places.len()];
        // Four quads.
        Draw {
            fragment: fragment(&code),
            textures,
            uniforms,
            state: vec![window(0, 0, 4, 4)],
            ..draw(all(0.5))
        }
    }

    /// Whether a second round finds most of them where the first one left them.
    fn stay(&self, bench: &Bench<'_>, missed: Event) -> Result<bool, Failure> {
        // A second round of the last place alone: the same program, which itself goes through L2.
        let last = self.places.last().map(std::slice::from_ref).unwrap_or_default();
        let beside = [&self.places[..], &last.repeat(self.places.len())].concat();
        let of = |one: Draw| counts(bench, [missed], &[one]).map(|[count]| count);
        let again = of(self.looked_up(2))?.saturating_sub(of(self.draw(&beside))?);
        // The program and its uniforms take some places.
        Ok(again * 4 < self.count() * 3)
    }
}

/// The last of growing numbers that is good; `None` where none or all are.
fn last_good(
    numbers: impl Iterator<Item = u32>,
    mut is_good: impl FnMut(u32) -> Result<bool, Failure>,
) -> Result<Option<u32>, Failure> {
    let mut last = None;
    for number in numbers {
        if !is_good(number)? {
            return Ok(last);
        }
        last = Some(number);
    }
    Ok(None)
}

/// Powers of two.
fn doubled(from: u32, to: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(from), move |n| (*n < to).then_some(n * 2))
}

/// Bytes of a cache between these, and lines of a set, by the event that counts its misses.
fn size_and_ways(bench: &Bench<'_>, bytes: [u32; 2], missed: Event) -> Answer {
    let image = Image::new(bench)?;
    let size = last_good(doubled(bytes[0], bytes[1]), |bytes| image.all(bytes)?.stay(bench, missed))?;
    let ways = match size {
        // As far apart they are lines of one set, whatever its ways are.
        Some(size) => {
            let most = (image.level.size / size).min(17);
            last_good(1..=most, |count| image.strided(count, size)?.stay(bench, missed))?
        }
        None => None,
    };
    Ok(vec![size.map(f64::from), ways.map(f64::from)])
}

pub fn textures(bench: &Bench<'_>) -> Answer {
    size_and_ways(bench, [1 << 10, 32 << 10], Event::TextureCacheMisses)
}

pub fn l2(bench: &Bench<'_>) -> Answer {
    size_and_ways(bench, [16 << 10, 512 << 10], Event::L2Misses)
}

/// Streams that all instances of a program read from their beginning.
pub fn uniforms(bench: &Bench<'_>) -> Answer {
    let instances = u64::from(EDGE * EDGE) / LANES as u64;
    let fits = |bytes: u32| {
        // A line less: the stream need not begin with one.
        let count = (bytes - LINE) as usize / 4;
        let code = fragment(&"sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n".repeat(count));
        let one = Draw { fragment: code, uniforms: vec![0; count], ..draw(all(0.5)) };
        let [missed] = counts(bench, [Event::UniformCacheMisses], &[one])?;
        // Four QPUs that run in step miss once together.
        Ok(missed * 8 < instances * u64::from(bytes / LINE))
    };
    Ok(vec![last_good(doubled(1 << 10, 16 << 10), fits)?.map(f64::from)])
}
