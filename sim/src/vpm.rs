//! The VPM window of one batch of vertices, and what a vertex or coordinate program sees of the
//! machine (v3d.md §7.1, qpu.md §4.9).

use vc4::cl::words::{VpmRead, VpmSize, VpmWrite, WordError};
use vc4::hw::LANES;

use crate::qpu::{Fault, LaneMask, Lanes, Ports};

/// Rows of a window.
pub const ROWS: usize = 64;

/// A block access in progress (qpu.md §4.9).
#[derive(Clone, Copy, Debug)]
struct Block {
    horizontal: bool,
    /// Row (horizontal), or row group in bits 5:4 and column in 3:0 (vertical).
    address: u32,
    stride: u32,
}

impl Block {
    fn new(size: VpmSize, horizontal: bool, address: u8, stride: u32) -> Result<Block, Fault> {
        if size != VpmSize::Bits32 {
            return Err(fault("8- and 16-bit VPM accesses are not simulated; use 32-bit vectors"));
        }
        Ok(Block { horizontal, address: u32::from(address) & 63, stride })
    }

    fn advance(&mut self) {
        self.address = (self.address + self.stride) & 63;
    }

    fn read(&self, window: &[Lanes; ROWS]) -> Lanes {
        if self.horizontal {
            return window[self.address as usize];
        }
        let (row, column) = ((self.address & 0x30) as usize, (self.address & 15) as usize);
        std::array::from_fn(|lane| window[row + lane][column])
    }

    fn write(&self, window: &mut [Lanes; ROWS], value: &Lanes) {
        if self.horizontal {
            window[self.address as usize] = *value;
            return;
        }
        let (row, column) = ((self.address & 0x30) as usize, (self.address & 15) as usize);
        for (lane, word) in value.iter().enumerate() {
            window[row + lane][column] = *word;
        }
    }
}

/// [`Ports`] of a vertex or coordinate program: attributes in, shaded vertices out. The two areas are
/// separate and both begin at row 0 (v3d.md §7.1).
pub struct VertexPorts {
    /// Attribute words: row is the word, element the vertex.
    pub input: Box<[Lanes; ROWS]>,
    /// Shaded words.
    pub output: Box<[Lanes; ROWS]>,
    read: Option<(Block, u32)>,
    write: Option<Block>,
}

impl Default for VertexPorts {
    fn default() -> Self {
        VertexPorts {
            input: Box::new([[0; LANES]; ROWS]),
            output: Box::new([[0; LANES]; ROWS]),
            read: None,
            write: None,
        }
    }
}

impl VertexPorts {
    /// Prepares for the next batch; the windows keep their content, as on the chip.
    pub fn restart(&mut self) {
        self.read = None;
        self.write = None;
    }

    /// Vectors that were requested and not popped: left over, they would confuse the next program.
    pub fn unread(&self) -> u32 {
        self.read.map_or(0, |(_, left)| left)
    }
}

/// A fault of a block that does not know the instruction number.
pub(crate) fn fault(what: impl Into<String>) -> Fault {
    Fault::Port(what.into())
}

fn not_a_setup(error: WordError) -> Fault {
    fault(format!("{error}; DMA set-ups are not available through Linux"))
}

fn no_pixels<T>(what: &str) -> Result<T, Fault> {
    Err(fault(format!("{what} in a vertex or coordinate program: only fragment programs have pixels")))
}

impl Ports for VertexPorts {
    fn varying(&mut self) -> Result<(Lanes, Lanes), Fault> {
        no_pixels("varying read")
    }

    fn vpm_read_setup(&mut self, word: u32) -> Result<(), Fault> {
        // Silicon accepts it only with at most one vector outstanding, and opinions differ on that
        // one (qpu.md §4.9); the driver's rule is to finish a block first.
        if self.unread() > 0 {
            return Err(fault("VPM read set-up while vectors of the previous block are outstanding"));
        }
        let block = VpmRead::from_bits(word).map_err(not_a_setup)?;
        self.read = Some((
            Block::new(block.size, block.horizontal, block.address, block.stride.get())?,
            block.count.get(),
        ));
        Ok(())
    }

    fn vpm_write_setup(&mut self, word: u32) -> Result<(), Fault> {
        let block = VpmWrite::from_bits(word).map_err(not_a_setup)?;
        self.write = Some(Block::new(block.size, block.horizontal, block.address, block.stride.get())?);
        Ok(())
    }

    fn vpm_read(&mut self) -> Result<Lanes, Fault> {
        match &mut self.read {
            Some((block, left)) if *left > 0 => {
                let value = block.read(&self.input);
                block.advance();
                *left -= 1;
                Ok(value)
            }
            _ => Err(fault("VPM read without a vector left in the block: the program would stall")),
        }
    }

    fn vpm_write(&mut self, value: &Lanes) -> Result<(), Fault> {
        let Some(block) = &mut self.write else {
            return Err(fault("VPM write before a write set-up"));
        };
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
        assert!(ports.vpm_read_setup(0x1a00).is_err());
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
    fn narrow_and_dma_accesses_name_themselves() {
        let mut ports = VertexPorts::default();
        for word in [0x1800, 0x1900, 0x8000_1a00] {
            assert!(matches!(ports.vpm_write_setup(word), Err(Fault::Port(_))), "{word:#x}");
        }
    }
}
