//! vkCmdCopyBuffer, vkCmdFillBuffer, vkCmdUpdateBuffer.

use std::ops::Range;
use std::sync::Arc;

use ash::vk;

use super::drawn::{self, Bytes, Work};
use super::programs::Gather;
use super::strips::{Strip, WORD, strips};
use super::tiles;
use super::words::Fold;
use super::worth;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::pipeline::Rectangles;
use crate::segments::{CpuCommand, Drawing, Rectangle, Touch};

/// Bytes that go through the stack at a time.
const CHUNK: usize = 4096;

/// vkCmdCopyBuffer.
pub struct CopyBuffer {
    /// From.
    pub src: Arc<Buffer>,
    /// To.
    pub dst: Arc<Buffer>,
    /// What.
    pub regions: Vec<vk::BufferCopy>,
}

impl CpuCommand for CopyBuffer {
    fn describe(&self) -> String {
        let (src, dst) = (self.src.name(), self.dst.name());
        format!("copy {} regions from buffer{src} to buffer{dst}", self.regions.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.src.binding(), self.dst.binding()])
    }

    fn may_be_drawn(&self) -> bool {
        true
    }

    fn drawing(&self, rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        let (renders, left) =
            drawn::parts(self, self.regions.clone(), |region| self.drawn(region, rectangles));
        let rest = (!left.is_empty()).then(|| -> Box<dyn CpuCommand> {
            Box::new(CopyBuffer { src: self.src.clone(), dst: self.dst.clone(), regions: left })
        });
        let drawing = drawn::drawing(renders, rest);
        Ok(drawing.map(|drawing| Drawing { changes_buffers: true, ..drawing }))
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        for region in &self.regions {
            let (src, from) = self.src.access(region.src_offset, region.size, Cause::Copy)?;
            let (dst, to) = self.dst.access(region.dst_offset, region.size, Cause::Copy)?;
            let (size, mut chunk) = (region.size as usize, [0; CHUNK]);
            for at in (0..size).step_by(CHUNK) {
                let bytes = &mut chunk[..CHUNK.min(size - at)];
                src.read(from + at, bytes);
                dst.write(to + at, bytes);
            }
        }
        Ok(())
    }
}

impl CopyBuffer {
    /// The jobs of a region and the bytes beside their words, or why it is the CPU's.
    fn drawn(
        &self,
        region: &vk::BufferCopy,
        rectangles: &mut Rectangles,
    ) -> Result<Work<vk::BufferCopy>, String> {
        worth::pays(region.size)?;
        // Lookups take whole words.
        let source_end = region.src_offset.saturating_add(region.size).checked_next_multiple_of(WORD);
        if source_end.is_none_or(|end| end > self.src.size()) {
            return Err("it ends where the buffer does, inside of a word".into());
        }
        let bytes = region.dst_offset..region.dst_offset.saturating_add(region.size);
        let device = rectangles.device().clone();
        let strips = strips(&device, &self.dst, bytes.clone())?;
        let source = |at: u64| region.src_offset + (at - region.dst_offset);
        let job = |strip: &Strip| {
            let (first, pitch) = (source(strip.start), WORD * u64::from(strip.width));
            let what = Gather::Words { fold: Fold::Row, aligned: first % WORD == 0 };
            let rectangle = Rectangle { view: strip.view.clone(), area: strip.area(), keeps: false };
            let from = Bytes { buffer: &self.src, first, pitch };
            drawn::gathered(rectangle, what, from, None, rectangles)
        };
        let jobs = strips.iter().map(job).collect::<Result<_, _>>()?;
        let copy = |bytes: Range<u64>| vk::BufferCopy {
            src_offset: source(bytes.start),
            dst_offset: bytes.start,
            size: bytes.end - bytes.start,
        };
        Ok(Work { jobs, rest: beside(&bytes, &strips).map(copy).collect() })
    }
}

/// vkCmdFillBuffer.
pub struct FillBuffer {
    /// To.
    pub dst: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// Bytes, VK_WHOLE_SIZE resolved.
    pub size: u64,
    /// The word.
    pub word: u32,
}

impl CpuCommand for FillBuffer {
    fn describe(&self) -> String {
        format!("fill {} bytes of buffer{} with {:#x}", self.size, self.dst.name(), self.word)
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.dst.binding()])
    }

    fn may_be_drawn(&self) -> bool {
        true
    }

    fn drawing(&self, rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        let bytes = self.offset..self.offset.saturating_add(self.size & !(WORD - 1));
        let device = rectangles.device().clone();
        let (renders, left) = drawn::parts(self, vec![bytes], |bytes| {
            worth::pays_to_write(bytes.end - bytes.start)?;
            let strips = strips(&device, &self.dst, bytes.clone())?;
            let job = |strip: &Strip| tiles::fill(strip.view.clone(), self.word, strip.area());
            Ok(Work { jobs: strips.iter().map(job).collect(), rest: beside(bytes, &strips).collect() })
        });
        if renders.is_empty() {
            return Ok(None);
        }
        let fill = |bytes: &Range<u64>| FillBuffer {
            dst: self.dst.clone(),
            offset: bytes.start,
            size: bytes.end - bytes.start,
            word: self.word,
        };
        let rest: Vec<FillBuffer> = left.iter().map(fill).collect();
        let rest = (!rest.is_empty()).then(|| -> Box<dyn CpuCommand> { Box::new(Fills(rest)) });
        let drawing = drawn::drawing(renders, rest);
        Ok(drawing.map(|drawing| Drawing { changes_buffers: true, ..drawing }))
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        let (dst, to) = self.dst.access(self.offset, self.size, Cause::Clear)?;
        let words = self.word.to_le_bytes().repeat(CHUNK / 4);
        let size = self.size as usize & !3;
        for at in (0..size).step_by(CHUNK) {
            dst.write(to + at, &words[..CHUNK.min(size - at)]);
        }
        Ok(())
    }
}

/// What jobs leave of a fill.
struct Fills(Vec<FillBuffer>);

impl CpuCommand for Fills {
    fn describe(&self) -> String {
        format!("fill {} parts of a buffer", self.0.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory(self.0.iter().map(|fill| fill.dst.binding()))
    }

    fn run(&self, device: &Arc<Device>) -> Result<(), Error> {
        self.0.iter().try_for_each(|fill| fill.run(device))
    }
}

/// The bytes that belong to no strip: in front of the first and behind the last.
fn beside(bytes: &Range<u64>, strips: &[Strip]) -> impl Iterator<Item = Range<u64>> {
    let first = strips.first().map_or(bytes.end, |strip| strip.start);
    let last = strips.last().map_or(bytes.end, Strip::end);
    [bytes.start..first, last..bytes.end].into_iter().filter(|part| !part.is_empty())
}

/// vkCmdUpdateBuffer.
pub struct UpdateBuffer {
    /// To.
    pub dst: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// The bytes.
    pub data: Vec<u8>,
}

impl CpuCommand for UpdateBuffer {
    fn describe(&self) -> String {
        format!("update {} bytes of a buffer", self.data.len())
    }

    fn touches(&self) -> Touch {
        Touch::memory([self.dst.binding()])
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        let (dst, to) = self.dst.access(self.offset, self.data.len() as u64, Cause::Clear)?;
        dst.write(to, &self.data);
        Ok(())
    }
}
