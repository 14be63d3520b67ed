//! Image operations: by the host, but for reads and writes of images whose texels lie in rows as words, which most are that
//! kernels write. Whether an image is such is known when the kernel runs.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlags, types};
use vc4_shaders::ir::{ImageDim, Op, Texel, Value};

use super::state::Generator;
use crate::layout::{BYTES, Context, NONE, Texels};
use crate::service::Service;

/// The largest byte as a float.
const MOST: f32 = 255.0;

/// An image in rows as the code finds it.
struct Rows {
    /// Not [`NONE`]: what texels are.
    kind: clif::Value,
    /// Byte of each element's texel; 0 where it is outside.
    offsets: clif::Value,
    /// The elements whose texel is inside.
    inside: clif::Value,
}

/// Whether rows can hold what an operation names.
fn is_flat(texel: &Texel) -> bool {
    let dim = matches!(texel.dim, ImageDim::D1 | ImageDim::D2 | ImageDim::Buffer);
    dim && !texel.arrayed && !texel.multisampled
}

impl Generator<'_, '_> {
    /// An operation on an image.
    pub fn image(&mut self, op: Op, args: &[Value], results: &[Value]) {
        let index = self.needs.images.len();
        self.needs.images.push(op);
        self.needs.image_words.push((args.len(), results.len()));
        let shared = !results.is_empty()
            && results.iter().all(|&result| self.form(result) != types::I32X4)
            && !op.has_effect();
        match op {
            Op::ImageRead(texel) if is_flat(&texel) && !shared => self.read(index, args, results),
            Op::ImageWrite(texel) if is_flat(&texel) => self.write(index, args),
            _ => {
                let words = self.by_host(index, args, results.len(), shared);
                for (word, &result) in words.into_iter().zip(results) {
                    self.define(result, word);
                }
            }
        }
    }

    /// Lets the host do it: the results.
    fn by_host(&mut self, index: usize, args: &[Value], results: usize, shared: bool) -> Vec<clif::Value> {
        let active = match self.active_bits() {
            // The first may not run; what is read for it all the same harms nobody.
            _ if shared => self.word(1),
            Some(bits) => bits,
            None => self.word(15),
        };
        let words = self.perform(Service::Image, index, args, active, results);
        let ty = if shared { types::I32 } else { types::I32X4 };
        (0..results as i32).map(|at| self.b.ins().load(ty, MemFlags::trusted(), words, 16 * at)).collect()
    }

    /// A number of the image of operation `index`.
    fn texels(&mut self, ty: clif::Type, index: usize, field: usize) -> clif::Value {
        let table = self.pointer(offset_of!(Context, texels));
        self.fixed(ty, table, index * size_of::<Texels>() + field)
    }

    /// The places of all elements' texels. Coordinates are a column and, of what has rows, a row.
    fn rows(&mut self, index: usize, coordinates: &[clif::Value]) -> Rows {
        let kind = self.texels(types::I32, index, offset_of!(Texels, kind));
        let width = self.texels(types::I32, index, offset_of!(Texels, width));
        let width = self.splat(width);
        let mut inside = self.b.ins().icmp(IntCC::UnsignedLessThan, coordinates[0], width);
        let mut offsets = self.b.ins().ishl_imm(coordinates[0], 2);
        if let Some(&row) = coordinates.get(1) {
            let height = self.texels(types::I32, index, offset_of!(Texels, height));
            let height = self.splat(height);
            let above = self.b.ins().icmp(IntCC::UnsignedLessThan, row, height);
            inside = self.b.ins().band(inside, above);
            let stride = self.texels(types::I32, index, offset_of!(Texels, stride));
            let stride = self.splat(stride);
            let start = self.b.ins().imul(row, stride);
            offsets = self.b.ins().iadd(offsets, start);
        }
        let offsets = self.b.ins().band(offsets, inside);
        Rows { kind, offsets, inside }
    }

    /// The address of an element's texel.
    fn texel(&mut self, index: usize, rows: &Rows, element: u8) -> clif::Value {
        let start = self.texels(self.machine.address, index, offset_of!(Texels, address));
        let offset = self.b.ins().extractlane(rows.offsets, element);
        let offset = self.b.ins().uextend(types::I64, offset);
        let offset = self.distance(offset);
        self.b.ins().iadd(start, offset)
    }

    fn read(&mut self, index: usize, args: &[Value], results: &[Value]) {
        let coordinates: Vec<clif::Value> = args.iter().map(|&arg| self.lanes(arg)).collect();
        let rows = self.rows(index, &coordinates);
        let [quick, bytes, words, slow, join] = [(); 5].map(|()| self.b.create_block());
        let found: Vec<clif::Value> =
            results.iter().map(|_| self.b.append_block_param(join, types::I32X4)).collect();
        self.branch_if(rows.kind, NONE, slow, quick);
        self.begin(quick);

        let mut raw = None;
        for element in 0..4 {
            let address = self.texel(index, &rows, element);
            let word = self.b.ins().load(types::I32, MemFlags::new().with_notrap(), address, 0);
            raw = Some(match raw {
                None => self.b.ins().scalar_to_vector(types::I32X4, word),
                Some(raw) => self.b.ins().insertlane(raw, word, element),
            });
        }
        let raw = raw.unwrap_or(rows.offsets);
        let raw = self.b.ins().band(raw, rows.inside);
        self.branch_if(rows.kind, BYTES, bytes, words);
        self.begin(bytes);

        let colors: Vec<clif::Value> = (0..4).map(|byte| self.unpack(raw, byte)).collect();
        self.join(join, &colors[..results.len()]);

        self.begin(words);
        let (zero, one) = (self.vector([0; 4]), self.texels(types::I32, index, offset_of!(Texels, one)));
        let one = self.splat(one);
        let one = self.b.ins().band(one, rows.inside);
        self.join(join, &[raw, zero, zero, one][..results.len()]);

        self.begin(slow);
        let given = self.by_host(index, args, results.len(), false);
        self.join(join, &given);

        self.begin(join);
        for (&result, word) in results.iter().zip(found) {
            self.define(result, word);
        }
    }

    fn write(&mut self, index: usize, args: &[Value]) {
        let values: Vec<clif::Value> = args.iter().map(|&arg| self.lanes(arg)).collect();
        let (coordinates, color) = values.split_at(values.len() - 4);
        let mut rows = self.rows(index, coordinates);
        let mask = self.mask_value(self.mask);
        rows.inside = self.b.ins().band(rows.inside, mask);
        let [quick, bytes, words, store, slow, join] = [(); 6].map(|()| self.b.create_block());
        let texels = self.b.append_block_param(store, types::I32X4);
        self.branch_if(rows.kind, NONE, slow, quick);
        self.begin(quick);
        self.branch_if(rows.kind, BYTES, bytes, words);
        self.begin(bytes);

        let packed = self.pack(color);
        self.join(store, &[packed]);

        self.begin(words);
        self.join(store, &color[..1]);

        self.begin(store);
        let inside = self.b.ins().vhigh_bits(types::I32, rows.inside);
        let sink = self.pointer(offset_of!(Context, sink));
        for element in 0..4 {
            let bit = self.b.ins().band_imm(inside, 1 << element);
            let counts = self.b.ins().icmp_imm(IntCC::NotEqual, bit, 0);
            let address = self.texel(index, &rows, element);
            let address = self.b.ins().select(counts, address, sink);
            let word = self.b.ins().extractlane(texels, element);
            self.b.ins().store(MemFlags::new().with_notrap(), word, address, 0);
        }
        self.jump(join);

        self.begin(slow);
        self.by_host(index, args, 0, false);
        self.jump(join);

        self.begin(join);
    }

    /// To `yes` if a number is `wanted`, else to `no`.
    fn branch_if(&mut self, number: clif::Value, wanted: u32, yes: clif::Block, no: clif::Block) {
        let equal = self.b.ins().icmp_imm(IntCC::Equal, number, i64::from(wanted));
        self.branch(equal, yes, no);
    }

    /// Goes on in a block to which all ways are known.
    fn begin(&mut self, block: clif::Block) {
        self.switch(block);
        self.b.seal_block(block);
    }

    fn join(&mut self, block: clif::Block, values: &[clif::Value]) {
        let values: Vec<clif::BlockArg> = values.iter().map(|&value| value.into()).collect();
        self.b.ins().jump(block, &values);
    }

    fn most(&mut self) -> clif::Value {
        let most = self.vector([MOST.to_bits(); 4]);
        self.as_floats(most)
    }

    /// A byte of every word as a fraction.
    fn unpack(&mut self, words: clif::Value, byte: i64) -> clif::Value {
        let low = self.b.ins().ushr_imm(words, 8 * byte);
        let all = self.vector([0xff; 4]);
        let low = self.b.ins().band(low, all);
        let number = self.b.ins().fcvt_from_sint(types::F32X4, low);
        let most = self.most();
        let fraction = self.b.ins().fdiv(number, most);
        self.as_words(fraction)
    }

    /// Four fractions as the bytes of a word, to nearest; what is no number is 0.
    fn pack(&mut self, color: &[clif::Value]) -> clif::Value {
        let mut texel = self.vector([0; 4]);
        let zero = self.as_floats(texel);
        let [one, half] = [1.0f32, 0.5].map(|number| {
            let number = self.vector([number.to_bits(); 4]);
            self.as_floats(number)
        });
        let most = self.most();
        for (byte, &words) in (0..).zip(color) {
            let value = self.as_floats(words);
            let positive = self.b.ins().fcmp(FloatCC::GreaterThan, value, zero);
            let words = self.b.ins().band(words, positive);
            let value = self.as_floats(words);
            let value = self.b.ins().fmin(value, one);
            let scaled = self.b.ins().fmul(value, most);
            let scaled = self.b.ins().fadd(scaled, half);
            let number = self.b.ins().fcvt_to_sint_sat(types::I32X4, scaled);
            let number = self.b.ins().ishl_imm(number, 8 * byte);
            texel = self.b.ins().bor(texel, number);
        }
        texel
    }
}
