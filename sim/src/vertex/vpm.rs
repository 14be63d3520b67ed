//! The VPM window of one batch of vertices, and what a vertex or coordinate program sees of the
//! machine (v3d.md §7.1, qpu.md §4.9).

use vc4::cl::words::{VpmRead, VpmSize, VpmWrite};
use vc4::hw::LANES;
use vc4::qpu::Stage;

use crate::qpu::{Fault, LaneMask, Lanes, Ports};
use crate::stats::Note;

/// Rows of a window.
pub const ROWS: usize = 64;

/// A block access in progress (qpu.md §4.9).
#[derive(Clone, Copy, Debug)]
struct Block {
    horizontal: bool,
    /// Narrow elements take the same part of sixteen words instead of consecutive parts of fewer words.
    laned: bool,
    /// Binary logarithm of the elements that a word holds.
    parts: u32,
    /// Row (horizontal), or row group and column (vertical); the part of a word in the lowest bits.
    address: u32,
    stride: u32,
}

impl Block {
    /// The block of a set-up with these fields; `None` for the reserved element size.
    fn new(size: VpmSize, horizontal: bool, laned: bool, address: u8, stride: u32) -> Block {
        let parts = match size {
            VpmSize::Bits8 => 2,
            VpmSize::Bits16 => 1,
            VpmSize::Bits32 => 0,
        };
        let address = u32::from(address) & (((ROWS as u32) << parts) - 1);
        Block { horizontal, laned, parts, address, stride }
    }

    fn advance(&mut self) {
        self.address = (self.address + self.stride) & (((ROWS as u32) << self.parts) - 1);
    }

    /// Row, column and part of the word that holds an element of the current vector.
    fn place(&self, lane: u32) -> (usize, usize, u32) {
        let (start, part) = (self.address >> self.parts, self.address & ((1 << self.parts) - 1));
        let (word, part) = if self.laned {
            (lane, part)
        } else {
            ((part << (4 - self.parts)) + (lane >> self.parts), lane & ((1 << self.parts) - 1))
        };
        if self.horizontal {
            (start as usize, word as usize, part)
        } else {
            ((start & 0x30 | word) as usize, (start & 15) as usize, part)
        }
    }

    /// Bits of an element, and their mask.
    fn element(&self) -> (u32, u32) {
        let bits = 32 >> self.parts;
        (bits, u32::MAX >> (32 - bits))
    }

    fn read(&self, window: &[Lanes; ROWS]) -> Lanes {
        if self.horizontal && self.parts == 0 {
            return window[self.address as usize];
        }
        let (bits, mask) = self.element();
        std::array::from_fn(|lane| {
            let (row, column, part) = self.place(lane as u32);
            window[row][column] >> (part * bits) & mask
        })
    }

    fn write(&self, window: &mut [Lanes; ROWS], value: &Lanes) {
        if self.horizontal && self.parts == 0 {
            window[self.address as usize] = *value;
            return;
        }
        let (bits, mask) = self.element();
        for (lane, word) in value.iter().enumerate() {
            let (row, column, part) = self.place(lane as u32);
            let old = &mut window[row][column];
            *old = *old & !(mask << (part * bits)) | (word & mask) << (part * bits);
        }
    }
}

const SETUP_EARLY: Note = Note {
    id: "vpm-vectors",
    manual: "qpu.md §5.1 6, §4.9",
    text: "all vectors of a VPM read set-up are read before the next set-up and before the program ends",
};

const NO_DMA: Note = Note {
    id: "vpm-dma-setup",
    manual: "qpu.md §4.10",
    text: "DMA set-ups and reserved element sizes have no use: the kernel forbids starting a DMA",
};

const NOT_SET_UP: Note =
    Note { id: "vpm-write-setup", manual: "qpu.md §4.9", text: "a VPM write is set up before it is made" };

/// What a write without a set-up does: 32-bit rows from the first on. Anything, on the chip.
const WRITE_AT_START: Block = Block { horizontal: true, laned: false, parts: 0, address: 0, stride: 1 };

/// Bits with a meaning in the set-up words of blocks; the others are ignored.
const READ_BITS: u32 = 0x00f3_ffff;
const WRITE_BITS: u32 = 0x0003_ffff;

/// [`Ports`] of a vertex or coordinate program: attributes in, shaded vertices out. The two areas are
/// separate and both begin at row 0 (v3d.md §7.1).
pub struct VertexPorts {
    /// Attribute words: row is the word, element the vertex.
    pub input: Box<[Lanes; ROWS]>,
    /// Shaded words.
    pub output: Box<[Lanes; ROWS]>,
    stage: Stage,
    /// Blocks to be read with their vectors left; the first one is being read.
    reads: [Option<(Block, u32)>; 2],
    write: Option<Block>,
    note: Option<Note>,
}

impl Default for VertexPorts {
    fn default() -> Self {
        VertexPorts {
            input: Box::new([[0; LANES]; ROWS]),
            output: Box::new([[0; LANES]; ROWS]),
            stage: Stage::Vertex,
            reads: [None; 2],
            write: None,
            note: None,
        }
    }
}

impl VertexPorts {
    /// Ports for a program of this stage.
    pub fn of(stage: Stage) -> VertexPorts {
        VertexPorts { stage, ..VertexPorts::default() }
    }

    /// Prepares for the next batch; the windows keep their content, as on the chip.
    pub fn restart(&mut self) {
        (self.reads, self.write, self.note) = ([None; 2], None, None);
    }

    /// Vectors that were requested and not popped: left over, they would confuse the next program.
    pub fn unread(&self) -> u32 {
        self.reads.iter().flatten().map(|(_, left)| left).sum()
    }

    /// The rule that a program with unread vectors breaks at its end.
    pub(crate) fn left_over(&self) -> Option<Note> {
        (self.unread() > 0).then_some(SETUP_EARLY)
    }
}

fn no_pixels<T>(what: &str) -> Result<T, Fault> {
    Err(Fault::port(format!("{what} in a vertex or coordinate program: only fragment programs have pixels")))
}

impl Ports for VertexPorts {
    fn stage(&self) -> Stage {
        self.stage
    }

    fn take_note(&mut self) -> Option<Note> {
        self.note.take()
    }

    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        no_pixels("varying read")
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), Fault> {
        let block = VpmRead::from_bits(word & READ_BITS);
        let Some(block) = block.ok().filter(|_| word >> 31 == 0) else {
            self.note = Some(NO_DMA);
            return Ok(());
        };
        let first = Block::new(block.size, block.horizontal, block.laned, block.address, block.stride.get());
        let unread = self.unread();
        if unread > 0 {
            self.note = Some(SETUP_EARLY);
        }
        // With one vector left, a set-up is queued; before that, it is ignored (qpu.md §4.9).
        match unread {
            0 => self.reads = [Some((first, block.count.get())), None],
            1 => self.reads = [self.reads[0], Some((first, block.count.get()))],
            _ => {}
        }
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault> {
        match VpmWrite::from_bits(word & WRITE_BITS) {
            Ok(b) if word >> 30 == 0 => {
                self.write = Some(Block::new(b.size, b.horizontal, b.laned, b.address, b.stride.get()));
            }
            _ => self.note = Some(NO_DMA),
        }
        Ok(())
    }

    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        let [Some((block, left)), _] = &mut self.reads else {
            return Err(Fault::port("VPM read without a vector left in the block: the program would stall"));
        };
        let value = block.read(&self.input);
        block.advance();
        *left -= 1;
        if *left == 0 {
            self.reads = [self.reads[1], None];
        }
        Ok(value)
    }

    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault> {
        if self.write.is_none() {
            self.note = Some(NOT_SET_UP);
        }
        let block = self.write.get_or_insert(WRITE_AT_START);
        block.write(&mut self.output, value);
        block.advance();
        Ok(())
    }

    fn tlb_color_read(&mut self) -> Result<Lanes, Fault> {
        no_pixels("tile colour read")
    }

    fn tlb_color_write(&mut self, _: LaneMask, _: &Lanes, _: bool) -> Result<(), Fault> {
        no_pixels("tile colour write")
    }

    fn tlb_z(&mut self, _: LaneMask, _: &Lanes) -> Result<(), Fault> {
        no_pixels("tile Z write")
    }

    fn tlb_stencil(&mut self, _: u32) -> Result<(), Fault> {
        no_pixels("stencil set-up")
    }

    fn ms_flags(&self) -> Lanes {
        [0; LANES]
    }

    fn set_ms_flags(&mut self, _: LaneMask, _: &Lanes) {}

    fn rev_flag(&self) -> Lanes {
        [0; LANES]
    }

    fn pixel_xy(&self) -> (Lanes, Lanes) {
        ([0; LANES], [0; LANES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: u32) -> Lanes {
        std::array::from_fn(|lane| n * 100 + lane as u32)
    }

    #[test]
    fn horizontal_blocks_walk_rows_and_wrap() {
        let mut ports = VertexPorts::default();
        *ports.input = std::array::from_fn(|n| row(n as u32));
        ports.vpm_read_setup(0x0020_1a00 | 63).unwrap();
        assert_eq!(ports.vpm_read().unwrap(), row(63));
        assert_eq!(ports.unread(), 1);
        assert_eq!(ports.vpm_read().unwrap(), row(0));
        assert!(ports.vpm_read().is_err());
        ports.vpm_write_setup(0x0000_2a05).unwrap();
        ports.vpm_write(&row(7)).unwrap();
        ports.vpm_write(&row(8)).unwrap();
        assert_eq!((ports.output[5], ports.output[7]), (row(7), row(8)));
    }

    #[test]
    fn sixteen_vectors_are_written_as_zero() {
        let mut ports = VertexPorts::default();
        ports.vpm_read_setup(0x1a00).unwrap();
        assert_eq!(ports.unread(), 16);
        assert_eq!(ports.take_note(), None);
        ports.vpm_read_setup(0x1a00).unwrap();
        assert_eq!((ports.unread(), ports.take_note()), (16, Some(SETUP_EARLY)));
        for _ in 0..15 {
            ports.vpm_read().unwrap();
        }
        ports.vpm_read_setup(0x0020_1a00).unwrap();
        assert_eq!(ports.unread(), 3);
    }

    #[test]
    fn vertical_blocks_transpose() {
        let mut ports = VertexPorts::default();
        *ports.input = std::array::from_fn(|n| row(n as u32));
        ports.vpm_read_setup(0x0010_1200 | 0x13).unwrap();
        let column: Lanes = std::array::from_fn(|lane| (16 + lane as u32) * 100 + 3);
        assert_eq!(ports.vpm_read().unwrap(), column);
        ports.vpm_write_setup(0x1200 | 0x21).unwrap();
        ports.vpm_write(&row(1)).unwrap();
        assert_eq!(ports.output[47][1], 115);
    }

    #[test]
    fn narrow_vectors_are_packed_or_laned() {
        let mut ports = VertexPorts::default();
        *ports.input =
            std::array::from_fn(|n| std::array::from_fn(|i| ((n as u32) << 24) | (i as u32 * 0x0001_0203)));
        let mut read = |setup: u32| {
            ports.reads = [None; 2];
            ports.vpm_read_setup(0x0010_0000 | setup).unwrap();
            ports.vpm_read().unwrap()
        };
        // 16 bits, row 3, upper half: packed from columns 8 to 15, laned from all of them.
        let packed = read(0x1900 | 3 << 1 | 1);
        assert_eq!(packed[..3], [8 * 0x0203, 0x0300 | 8, 9 * 0x0203]);
        assert_eq!(read(0x1d00 | 3 << 1 | 1)[..3], [0x0300, 0x0301, 0x0302]);
        // 8 bits, row 2, byte 1: packed from columns 4 to 7.
        assert_eq!(read(0x1800 | 2 << 2 | 1)[..5], [12, 8, 4, 2, 15]);
        assert_eq!(read(0x1c00 | 2 << 2 | 1)[..3], [0, 2, 4]);
        // Vertical, column 5, rows 16 and up.
        assert_eq!(read(0x1500 | (16 + 5) << 1)[..2], [5 * 0x0203; 2]);
        ports.vpm_write_setup(0x1c00 | 2 << 2 | 3).unwrap();
        ports.vpm_write(&row(1)).unwrap();
        assert_eq!(ports.output[2][..2], [100 << 24, 101 << 24]);
        assert_eq!(ports.write.unwrap().address, 12);
    }

    #[test]
    fn dma_set_ups_are_ignored_and_noted() {
        let mut ports = VertexPorts::default();
        for word in [0x8000_1a00, 0xc000_0000] {
            ports.vpm_write_setup(word).unwrap();
            assert_eq!((ports.take_note(), ports.write.is_none()), (Some(NO_DMA), true), "{word:#x}");
        }
        ports.vpm_read_setup(0x8000_1a00).unwrap();
        assert_eq!((ports.take_note(), ports.unread()), (Some(NO_DMA), 0));
        ports.vpm_write(&row(1)).unwrap();
        assert_eq!((ports.take_note(), ports.output[0]), (Some(NOT_SET_UP), row(1)));
    }
}
