//! The table of all questions. `choices` have hypotheses, the one in use first; the `others` are numbers or have no form yet.

use super::row::{Ask, Hypothesis, Row};

macro_rules! facts {
    (
        choices { $(
            $field:ident: $Type:ident = $name:literal, $question:literal {
                $( | $Choice:ident = $choice:literal: $text:literal, )+
                evidence: $evidence:literal,
                at: $file:literal, $item:literal,
                users: $users:literal,
                ask: $ask:expr,
            }
        )+ }
        others { $(
            $other:literal, $other_question:literal {
                evidence: $other_evidence:literal,
                at: $other_file:literal, $other_item:literal,
                users: $other_users:literal,
                ask: $other_ask:expr,
            }
        )+ }
    ) => {
        $(
            #[doc = $question]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            #[repr(u8)]
            pub enum $Type {
                #[default]
                $( #[doc = $text] $Choice, )+
            }
        )+

        /// One answer to each question that has answers to choose from; the default is what driver and simulator assume.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Facts {
            $( #[doc = $question] pub $field: $Type, )+
        }

        /// All questions, those with answers to choose from first.
        pub const ROWS: &[Row] = &[
            $( Row {
                name: $name,
                question: $question,
                hypotheses: &[$( Hypothesis { name: $choice, text: $text } ),+],
                evidence: $evidence,
                place: ($file, $item),
                users: $users,
                ask: $ask,
            }, )+
            $( Row {
                name: $other,
                question: $other_question,
                hypotheses: &[],
                evidence: $other_evidence,
                place: ($other_file, $other_item),
                users: $other_users,
                ask: $other_ask,
            }, )+
        ];

        impl Facts {
            /// The hypothesis that is chosen in a row of [`ROWS`], by number; `None` where there is no choice.
            pub fn get(&self, row: usize) -> Option<usize> {
                let mut at = 0;
                $( if row == at { return Some(self.$field as usize); } at += 1; )+
                let _ = at;
                None
            }

            fn set(&mut self, row: usize, hypothesis: usize) {
                let mut at = 0;
                $( if row == at {
                    if let Some(choice) = [$( $Type::$Choice ),+].get(hypothesis) {
                        self.$field = *choice;
                    }
                    return;
                } at += 1; )+
                let _ = at;
            }
        }
    };
}

impl Row {
    /// The row of this name.
    pub fn find(name: &str) -> Option<(usize, &'static Row)> {
        ROWS.iter().enumerate().find(|(_, row)| row.name == name)
    }
}

impl Facts {
    /// These facts with another answer to a question; both by number, as in [`ROWS`]. Numbers that do not exist change
    /// nothing.
    #[must_use]
    pub fn with(mut self, row: usize, hypothesis: usize) -> Facts {
        self.set(row, hypothesis);
        self
    }

    /// The rows that are answered otherwise than in use here.
    pub fn changed(&self) -> impl Iterator<Item = (&'static Row, &'static Hypothesis)> + '_ {
        ROWS.iter().enumerate().filter_map(|(at, row)| {
            let chosen = self.get(at).filter(|chosen| *chosen > 0)?;
            Some((row, &row.hypotheses[chosen]))
        })
    }
}

use Ask::{Measure, Not, Probe};

facts! {
choices {
    // Primitives and their coverage.
    shared_edges: SharedEdges = "shared-edges", "Which triangle owns a sample exactly on a shared edge?" {
        | TopLeft = "top-left": "That on whose left or upper edge it lies.",
        | BottomRight = "bottom-right": "That on whose right or lower edge it lies.",
        | TopRight = "top-right": "That on whose right or upper edge it lies.",
        | BottomLeft = "bottom-left": "That on whose left or lower edge it lies.",
        evidence: "v3d.md §9.2",
        at: "sim/src/unverified.rs", "edge_owns_its_samples",
        users: "pictures of triangles, points and lines, where Vulkan allows any of them",
        ask: Probe,
    }
    sample_positions: SamplePositions = "sample-positions", "Where are the four samples of a pixel in 4x multisampling?" {
        | Rotated = "rotated": "(10, 2), (2, 6), (14, 10), (6, 14) sixteenths, as V3D 3.3's.",
        | Mirrored = "mirrored": "(6, 2), (14, 6), (2, 10), (10, 14), as Direct3D's.",
        | Grid = "grid": "(4, 4), (12, 4), (4, 12), (12, 12).",
        evidence: "v3d.md §9.2",
        at: "src/hw.rs", "sample_positions_4x",
        users: "standardSampleLocations; centroids; multisampled pictures",
        ask: Probe,
    }
    oversample_none: OversampleNone = "oversample-none", "In 4x mode with oversample none, does the pixel centre decide for all four samples?" {
        | Centre = "centre": "It does.",
        | Samples = "samples": "Each sample decides for itself.",
        evidence: "v3d.md §10.5",
        at: "sim/src/unverified.rs", "sample_coverage",
        users: "Bresenham lines in images of four samples",
        ask: Probe,
    }
    point_size: PointSize = "point-size", "Is a point the square of its exact size around the vertex?" {
        | Exact = "exact": "To a sixteenth of a pixel.",
        | Whole = "whole": "Its size is rounded to whole pixels.",
        evidence: "v3d.md §9.8",
        at: "sim/src/unverified.rs", "point_corners",
        users: "pictures of points; pointSizeGranularity",
        ask: Probe,
    }
    max_point: MaxPoint = "max-point", "How wide can a point be?" {
        | Px512 = "512": "512 pixels.",
        | Px256 = "256": "256 pixels.",
        | Px1024 = "1024": "1024 pixels.",
        | Unlimited = "unlimited": "As wide as the largest target.",
        evidence: "dEQP-GLES2's rasterization.limits.points passes on Raspberry Pi 3 boards, where Mesa says 512",
        at: "sim/src/unverified.rs", "max_point_px",
        users: "pointSizeRange",
        ask: Probe,
    }
    line_corners: LineCorners = "line-corners", "Are lines rectangles perpendicular to their direction, or along the minor axis?" {
        | MinorAxis = "minor-axis": "Parallelograms whose short sides are horizontal or vertical.",
        | Perpendicular = "perpendicular": "Rectangles.",
        evidence: "v3d.md §9.8",
        at: "sim/src/unverified.rs", "line_corners",
        users: "pictures of wide lines; strictLines",
        ask: Probe,
    }
    lines_beside: LinesBeside = "lines-beside", "Which lines with both ends outside of the viewport are drawn?" {
        | Dropped = "dropped": "All but those with both ends beyond one of its sides.",
        | Drawn = "drawn": "All that reach into it by their width.",
        evidence: "dEQP-GLES2's wide_line_clip_viewport_{center,corner} fail on Raspberry Pi 3 boards",
        at: "sim/src/unverified.rs", "is_line_beside",
        users: "pictures of wide lines",
        ask: Probe,
    }
    provoking_vertex: ProvokingVertex = "provoking-vertex", "Which vertex gives flat varyings their value?" {
        | Last = "last": "The last one.",
        | First = "first": "The first one.",
        evidence: "v3d.md §9.6; piglit's clipflat fails with the first vertex, never with the last, on Raspberry Pi 3 boards",
        at: "sim/src/unverified.rs", "provoking_vertex",
        users: "flat varyings; the order in which the driver draws vertices",
        ask: Probe,
    }
    varying_origin: VaryingOrigin = "varying-origin", "Which vertex supplies (x0, y0) of the varying planes, and with it what r5 holds?" {
        | First = "first": "The first one.",
        | Last = "last": "The last one.",
        evidence: "v3d.md §9.6",
        at: "sim/src/rendering/pse.rs", "origin",
        users: "last bits of varyings",
        ask: Probe,
    }
    varying_precision: VaryingPrecision = "varying-precision", "How precise are the coefficients of varying planes?" {
        | Exact = "exact": "As floats of the exact values.",
        | Single = "single": "Differences, products and quotients are floats.",
        evidence: "v3d.md §9.6",
        at: "sim/src/rendering/pse.rs", "Fit",
        users: "last bits of varyings",
        ask: Probe,
    }
    empty_window: EmptyWindow = "empty-window", "Does an empty clip window draw nothing?" {
        | Nothing = "nothing": "It draws nothing.",
        | Everything = "everything": "It does not limit anything.",
        evidence: "v3d.md §5.6",
        at: "sim/src/geometry/state.rs", "window",
        users: "scissors without pixels",
        ask: Probe,
    }
    // The clipper.
    guard_band: GuardBand = "guard-band", "How far from the viewport centre may X and Y reach before the PTB clips them?" {
        | Px2047 = "2047": "2047 pixels.",
        | Px1023 = "1023": "1023 pixels.",
        | Px511 = "511": "511 pixels.",
        evidence: "v3d.md §9.4",
        at: "src/hw.rs", "guard_band_px",
        users: "the raster's window and with it the parts of large targets; precision of large triangles",
        ask: Probe,
    }
    near_plane: NearPlane = "near-plane", "Is the near plane -Wc <= Zc or 0 <= Zc?" {
        | MinusW = "minus-w": "-Wc <= Zc.",
        | Zero = "zero": "0 <= Zc.",
        evidence: "v3d.md §9.4; dEQP-GLES2's clipping.triangle_vertex.* pass on Raspberry Pi 3 boards, where Mesa gives OpenGL's z",
        at: "sim/src/unverified.rs", "clip_distances_zw",
        users: "clip coordinates that vertex programs give; the clipper's depth range",
        ask: Probe,
    }
    packet_106: Packet106 = "packet-106", "Does the scale or the offset come first in CLIPPER_Z_SCALE_AND_OFFSET?" {
        | ScaleFirst = "scale-first": "The scale.",
        | OffsetFirst = "offset-first": "The offset.",
        evidence: "v3d.md §5.6: three of four sources",
        at: "src/cl/packets.rs", "ClipperZScaleAndOffset",
        users: "depth of primitives that are clipped",
        ask: Probe,
    }
    clipped_grid: ClippedGrid = "clipped-grid", "How are X and Y of a vertex that the clipper makes rounded to sixteenths?" {
        | Nearest = "nearest": "To the nearest.",
        | Down = "down": "Downwards.",
        evidence: "none",
        at: "sim/src/unverified.rs", "clipped_to_grid",
        users: "edges of clipped primitives",
        ask: Probe,
    }
    // Indices and attributes.
    index_above: IndexAbove = "index-above", "What happens to a primitive with an index above the maximum?" {
        | Dropped = "dropped": "It is not drawn.",
        | Drawn = "drawn": "It is drawn with what lies there.",
        evidence: "none",
        at: "sim/src/binning/ptb.rs", "new",
        users: "nothing: the driver gives the true maximum",
        ask: Probe,
    }
    odd_indices: OddIndices = "odd-indices", "Does a 16-bit index list at an odd address work?" {
        | Work = "work": "It does.",
        | Rounded = "rounded": "It begins one byte earlier.",
        evidence: "none",
        at: "sim/src/binning/thread.rs", "indexed",
        users: "nothing: Vulkan aligns index lists",
        ask: Probe,
    }
    attribute_tail: AttributeTail = "attribute-tail", "What fills the last word of an attribute whose size is no multiple of four?" {
        | Zero = "zero": "Zeros.",
        | Memory = "memory": "What follows in memory.",
        evidence: "v3d.md §7",
        at: "sim/src/vertex/shade.rs", "tail",
        users: "nothing: the driver masks such words",
        ask: Probe,
    }
    // Depth.
    depth_rounding: DepthRounding = "depth-rounding", "How is the interpolated Zs rounded to 24 bits?" {
        | Nearest = "nearest": "To the nearest of 2^24 - 1 steps.",
        | Down = "down": "Down to one of 2^24 - 1 steps.",
        | Shifted = "shifted": "Down to a multiple of 2^-24.",
        evidence: "v3d.md §9.7",
        at: "sim/src/unverified.rs", "z_to_24_bits",
        users: "depth of fragments",
        ask: Probe,
    }
    depth_outside: DepthOutside = "depth-outside", "What becomes of a Zs outside of 0 to 1?" {
        | Clamped = "clamped": "It is clamped.",
        | Wrapped = "wrapped": "Its low 24 bits are taken.",
        evidence: "v3d.md §9.7",
        at: "sim/src/unverified.rs", "z_to_24_bits",
        users: "depth bias at the planes; depthClamp",
        ask: Probe,
    }
    depth_unit: DepthUnit = "depth-unit", "What is one unit of depth offset?" {
        | Step = "step": "A step of the 24-bit buffer.",
        | TwoSteps = "two-steps": "Two steps.",
        | Coarse = "coarse": "A step of a 16-bit buffer.",
        evidence: "v3d.md §9.7",
        at: "sim/src/unverified.rs", "depth_offset",
        users: "depth bias",
        ask: Probe,
    }
    depth_slope: DepthSlope = "depth-slope", "Which slope does the factor of depth offset scale?" {
        | Largest = "largest": "The larger of the two derivatives.",
        | Sum = "sum": "Their sum.",
        | Length = "length": "The length of the gradient.",
        evidence: "v3d.md §9.7",
        at: "sim/src/unverified.rs", "depth_offset",
        users: "depth bias, which programs add themselves where it is the sum: Vulkan allows the others",
        ask: Probe,
    }
    bias_order: BiasOrder = "bias-order", "Is the offset of depth bias added before the depth is rounded?" {
        | Before = "before": "It is.",
        | After = "after": "It is rounded by itself and added.",
        evidence: "v3d.md §9.7",
        at: "src/state/raster.rs", "DepthBias",
        users: "depth bias, of which driver and chip add parts",
        ask: Probe,
    }
    shader_depth: ShaderDepth = "shader-depth", "Is the Z that a shader writes the base of per-sample Z in 4x mode?" {
        | Base = "base": "Each sample adds its distance times the slope.",
        | Same = "same": "All samples take it.",
        evidence: "v3d.md §10.5",
        at: "sim/src/unverified.rs", "ms_sample_z",
        users: "depth of multisampled fragments",
        ask: Probe,
    }
    stencil_latch: StencilLatch = "stencil-latch", "Does the machine take a new stencil set-up between two Z writes of a batch?" {
        | EachWrite = "each-write": "It does.",
        | FirstWrite = "first-write": "The batch keeps the set-up of its first Z write.",
        evidence: "v3d.md §12 HW-2924",
        at: "src/state/depth_stencil.rs", "emit_depth_stencil",
        users: "stencil states that differ by face",
        ask: Probe,
    }
    occlusion_events: OcclusionEvents = "occlusion-events", "Do the counters of passing quads and of written quads leave out quads whose samples are all masked away?" {
        | LeftOut = "left-out": "They do.",
        | Counted = "counted": "They count them.",
        evidence: "v3d.md §13",
        at: "icd/src/objects/query.rs", "EVENTS",
        users: "occlusion queries; whether there are exact ones",
        ask: Probe,
    }
    // The tile buffer, loads and stores.
    ms_flags: MsFlags = "ms-flags", "What does MS_FLAGS read without multisampling?" {
        | All = "all": "All four bits follow the one sample.",
        | First = "first": "The lowest bit alone is set.",
        evidence: "v3d.md §9.6",
        at: "sim/src/unverified.rs", "ms_flags_from_coverage",
        users: "alpha to coverage; sample masks",
        ask: Probe,
    }
    resolve_rounding: ResolveRounding = "resolve-rounding", "How does the multisample resolve round?" {
        | Nearest = "nearest": "To the nearest, halves up.",
        | Down = "down": "Downwards.",
        evidence: "v3d.md §10.5",
        at: "sim/src/unverified.rs", "resolve_4x",
        users: "resolved pictures",
        ask: Probe,
    }
    unresolved_sample: UnresolvedSample = "unresolved-sample", "Which sample does a general Z/S or non-decimated colour store write in 4x mode?" {
        | First = "first": "Sample 0.",
        | Last = "last": "Sample 3.",
        evidence: "none",
        at: "sim/src/unverified.rs", "unresolved_sample",
        users: "nothing: the driver stores all samples or averages them",
        ask: Probe,
    }
    store_565: Store565 = "store-565", "How is a channel rounded on a 565 store?" {
        | Nearest = "nearest": "To the nearest.",
        | Cut = "cut": "Its low bits are dropped.",
        evidence: "none",
        at: "sim/src/unverified.rs", "to_565",
        users: "16-bit targets",
        ask: Probe,
    }
    load_565: Load565 = "load-565", "How are 5- and 6-bit channels expanded on a 565 load?" {
        | Repeated = "repeated": "The high bits are repeated.",
        | Zeros = "zeros": "Zeros follow.",
        evidence: "none",
        at: "sim/src/unverified.rs", "from_565",
        users: "16-bit targets",
        ask: Probe,
    }
    dither_565: Dither565 = "dither-565", "What does the dither of a 565 store add where?" {
        | Bayer4 = "bayer-4": "The thresholds of a 4x4 Bayer matrix.",
        | Bayer2 = "bayer-2": "Those of a 2x2 one.",
        | None = "none": "Nothing: it rounds.",
        evidence: "v3d.md §15",
        at: "sim/src/unverified.rs", "to_565_dithered",
        users: "nothing: the driver does not dither",
        ask: Probe,
    }
    store_extent: StoreExtent = "store-extent", "What does a tile store write outside of width x height?" {
        | Utiles = "utiles": "Whole utiles, no further row in raster order.",
        | Exact = "exact": "Nothing.",
        evidence: "v3d.md §10.6",
        at: "sim/src/unverified.rs", "store_extent",
        users: "images beside other data; compute pictures",
        ask: Probe,
    }
    full_resolution: FullResolution = "full-resolution", "Where does a full-resolution store without multisampling put a pixel?" {
        | Quads = "quads": "Quads row by row, four words each.",
        | Rows = "rows": "Pixels row by row.",
        evidence: "v3d.md §10.6",
        at: "sim/src/unverified.rs", "unsampled_block_offset",
        users: "nothing: the driver does not",
        ask: Probe,
    }
    tile_coordinates: TileCoordinates = "tile-coordinates", "Are tile coordinates above 127 unsigned?" {
        | Unsigned = "unsigned": "They are.",
        | Signed = "signed": "They are negative.",
        evidence: "v3d.md §5.2",
        at: "sim/src/unverified.rs", "tile_coordinate",
        users: "nothing: jobs are at most 2048 pixels wide",
        ask: Not("The kernel stores images of 4096 pixels at most, 128 of the smallest tiles; bare metal could."),
    }
    // The QPU.
    branch_element: BranchElement = "branch-element", "Which element of a file-A register is the target of a register branch?" {
        | Last = "last": "Element 15.",
        | First = "first": "Element 0.",
        evidence: "qpu.md §2.8: an experiment; the architecture guide says 0",
        at: "sim/src/qpu/exec.rs", "register_branch_element",
        users: "nothing: the kernel refuses register branches",
        ask: Not("The kernel refuses register branches; bare metal could."),
    }
    mul_flags: MulFlags = "mul-flags", "Do flags follow the mul result before or after its rotation?" {
        | Rotated = "rotated": "After it.",
        | Unrotated = "unrotated": "Before it.",
        evidence: "qpu.md §2.7",
        at: "sim/src/qpu/exec.rs", "flags_of_mul",
        users: "the scheduler never sets flags with a rotation",
        ask: Probe,
    }
    pack_a: PackA = "pack-a", "Does a pack with pm = 0 act on accumulators written through file A as well?" {
        | Registers = "registers": "On the physical registers alone.",
        | Accumulators = "accumulators": "On accumulators as well.",
        evidence: "qpu.md §3.2",
        at: "sim/src/qpu/flatten.rs", "packs_file_a",
        users: "the compiler packs into registers only",
        ask: Probe,
    }
    unmapped_reads: UnmappedReads = "unmapped-reads", "What do read addresses of file A without a register return?" {
        | Element = "element": "The element number.",
        | Zero = "zero": "Zero.",
        evidence: "qpu.md §3.1",
        at: "sim/src/qpu/flatten.rs", "unmapped",
        users: "nothing: no program reads them",
        ask: Probe,
    }
    rev_flag: RevFlag = "rev-flag", "Which element's bit does a rev_flag write take?" {
        | First = "first": "Element 0's, for all.",
        | Last = "last": "Element 15's, for all.",
        evidence: "qpu.md §3.2",
        at: "sim/src/qpu/flatten.rs", "reverse_element",
        users: "nothing: no program writes it",
        ask: Probe,
    }
    fmul_rounding: FmulRounding = "fmul-rounding", "Does `fmul` round to nearest even or truncate?" {
        | TowardZero = "toward-zero": "It truncates.",
        | NearestEven = "nearest-even": "It rounds to nearest, ties to even.",
        evidence: "27 errors that GPU_FFT printed on Raspberry Pis come of truncated products and sums only",
        at: "src/qpu/alu.rs", "fmul",
        users: "precise arithmetic of the compiler; docs/precision.md",
        ask: Probe,
    }
    mul24_carry: Mul24Carry = "mul24-carry", "Above which product does `mul24` set C?" {
        | Above24 = "above-24": "Above 0xffffff.",
        | Above32 = "above-32": "Above 0xffffffff.",
        evidence: "qpu.md §2.4",
        at: "src/qpu/alu.rs", "MUL24_CARRY_ABOVE",
        users: "nothing: no program looks",
        ask: Probe,
    }
    infinite_sums: InfiniteSums = "infinite-sums", "What is the sum of +Inf and -Inf, and of a NaN and an infinity?" {
        | SecondWins = "second-wins": "An infinity of the second operand's sign.",
        | FirstWins = "first-wins": "An infinity of the first operand's sign.",
        | Nan = "nan": "NaN for opposite infinities and NaN operands.",
        evidence: "qpu.md §2.3; VC4C's notes on edge cases agree",
        at: "src/qpu/alu.rs", "fadd",
        users: "shaders that compute with infinities",
        ask: Probe,
    }
    small_sums: SmallSums = "fadd-truncation", "Does `fadd` truncate sums of every size, and of either sign of the smaller number, toward zero?" {
        | Truncated = "toward-zero": "It does.",
        | Dropped = "guarded": "What lies more than two bits below the larger number is dropped before.",
        evidence: "27 errors that GPU_FFT printed on Raspberry Pis come of truncated sums only; recorded on silicon for some operands",
        at: "src/qpu/alu.rs", "fadd_finite",
        users: "floor, fract; precise arithmetic",
        ask: Probe,
    }
    ftoi_range: FtoiRange = "ftoi-range", "What does `ftoi` give for 2^31 <= abs(x) < 2^32 and for infinities?" {
        | Shifted = "shifted": "The mantissa shifted into place; 0 for infinities.",
        | Zero = "zero": "0 for all of them.",
        | Saturated = "saturated": "The nearest integer that there is.",
        evidence: "qpu.md §2.3; VC4C's notes and tests of conversions agree",
        at: "src/qpu/alu.rs", "ftoi",
        users: "conversions to unsigned integers",
        ask: Probe,
    }
    f16_rounding: F16Rounding = "f16-rounding", "Which way are values between two float16 rounded?" {
        | AwayFromZero = "away-from-zero": "Away from zero.",
        | TiesAway = "ties-away": "To nearest, ties away from zero.",
        | NearestEven = "nearest-even": "To nearest, ties to even.",
        | TowardZero = "toward-zero": "Toward zero.",
        evidence: "VC4C's tests of stores of halves, run on a board, correct what is rounded away from zero",
        at: "src/qpu/pack.rs", "f32_to_f16",
        users: "packHalf2x16; 16-bit float targets",
        ask: Probe,
    }
    unorm8_halves: Unorm8Halves = "unorm8-halves", "How are exact halves rounded when a float becomes a byte?" {
        | Up = "up": "Up.",
        | Down = "down": "Down.",
        evidence: "qpu.md §2.11; vc4asm's table, made on a board, packs 0.5 to 0x80",
        at: "src/qpu/pack.rs", "float_to_unorm8",
        users: "8-bit targets",
        ask: Probe,
    }
    saturating_packs: SaturatingPacks = "saturating-packs", "What do the saturating 16- and 8-bit packs make of sums that overflow?" {
        | Compared = "compared": "The end that C chooses, but 0 where the sum of 32 bits is beyond the other end.",
        | Extremes = "extremes": "0 for every overflow of `add` but the two largest.",
        evidence: "6,750 sums and differences recorded on silicon fit the first",
        at: "src/qpu/pack.rs", "saturated",
        users: "nothing: the compiler does not use them so",
        ask: Probe,
    }
    recip_one: RecipOne = "recip-one", "Is the reciprocal of 1 exact?" {
        | One = "one": "It is 1.",
        | Table = "table": "It is 0x3f7ffc00, as the table has it.",
        evidence: "vc4asm's list of accuracies prints recip(recip(1)) as 1.000000; with it, and truncated products, 73 cases of dEQP-GLES2 pass as on Raspberry Pi 3 boards, in which Mesa's vertices would lie a sixteenth of a pixel inside otherwise",
        at: "src/qpu/sfu.rs", "recip",
        users: "vertices whose w is 1",
        ask: Probe,
    }
    exp2_nan: Exp2Nan = "exp2-nan", "What is exp2(NaN)?" {
        | Overflow = "overflow": "As of an infinity of its sign.",
        | Nan = "nan": "NaN.",
        evidence: "qpu.md §4.4",
        at: "src/qpu/sfu.rs", "exp2",
        users: "shaders that compute with NaN",
        ask: Probe,
    }
    // The texture unit.
    magnified_until: MagnifiedUntil = "magnified-until", "Up to which level of detail does the texture unit magnify?" {
        | Half = "half": "Up to 0, but 0.5 where only the magnifying filter is linear.",
        | Zero = "zero": "Up to 0.",
        evidence: "dEQP-GLES2's vertex.cube.filtering.nearest_mipmap_*_linear_* pass on Raspberry Pi 3 boards",
        at: "src/state/texture.rs", "magnified_until",
        users: "filters that the driver computes itself",
        ask: Probe,
    }
    lod_formula: LodFormula = "lod-formula", "Which formula has the automatic LOD of a quad?" {
        | Length = "length": "The longer of the two difference vectors.",
        | Sum = "sum": "The larger sum of absolute differences.",
        | Largest = "largest": "The largest absolute difference.",
        evidence: "textures.md §2; dEQP-GLES2's mipmap.cube.*.linear_* pass on Raspberry Pi 3 boards",
        at: "sim/src/tmu/sample.rs", "square_of_quad",
        users: "implicit levels of detail; what the driver computes itself",
        ask: Probe,
    }
    lod_limit: LodLimit = "lod-limit", "Does a coordinate's difference count at most one width of the image?" {
        | OneWidth = "one-width": "It does.",
        | Unlimited = "unlimited": "It counts as a whole.",
        evidence: "dEQP-GLES2's mipmap.2d.basic.*_non_square end so on Raspberry Pi 3 boards",
        at: "sim/src/tmu/sample.rs", "square_of_quad",
        users: "implicit levels of detail across seams",
        ask: Probe,
    }
    lod_bits: LodBits = "lod-bits", "How many bits has the fraction of a level of detail?" {
        | Eight = "8": "Eight.",
        | Four = "4": "Four.",
        | Five = "5": "Five.",
        | Six = "6": "Six.",
        evidence: "none",
        at: "sim/src/tmu/sample.rs", "lod_bits",
        users: "mipmapPrecisionBits, which needs four",
        ask: Probe,
    }
    level_rounding: LevelRounding = "level-rounding", "How is the nearest level chosen?" {
        | HalfUp = "half-up": "LOD + 0.5, downwards.",
        | Down = "down": "The LOD, downwards.",
        evidence: "textures.md §2",
        at: "sim/src/tmu/lod.rs", "nearest_level",
        users: "which samplers go to the program's own filter",
        ask: Probe,
    }
    weight_bits: WeightBits = "weight-bits", "How many bits has a filter weight?" {
        | Six = "6": "Six.",
        | Five = "5": "Five.",
        | Seven = "7": "Seven.",
        | Eight = "8": "Eight.",
        evidence: "dEQP-GLES2's filtering.2d.nearest_mipmap_*_linear_{mirror,repeat}_rgba8888 fail on Raspberry Pi 3 boards",
        at: "sim/src/tmu/sample.rs", "weight_bits",
        users: "subTexelPrecisionBits; which samplers go to the program's own filter",
        ask: Probe,
    }
    nearest_texel: NearestTexel = "nearest-texel", "How does the nearest filter round a coordinate?" {
        | Down = "down": "Down to whole texels.",
        | Rounded64 = "rounded-64": "To 1/64 texel, then down.",
        evidence: "textures.md §2; wrap.clamp_clamp_nearest_npot_etc1 fails on Raspberry Pi 3 boards, which is rounded-64",
        at: "sim/src/tmu/sample.rs", "to_texels",
        users: "which texel nearest filters take on a border, where Vulkan allows either; blits fetch texels",
        ask: Probe,
    }
    npot_levels: NpotLevels = "npot-levels", "How large are the places of levels of an image whose edges are no powers of two?" {
        | Containers = "containers": "As if level 0 had the next powers of two.",
        | Own = "own": "As the level's own edges need.",
        evidence: "textures.md §4.4; Mesa's images",
        at: "src/image/layout.rs", "container",
        users: "levels of images whose edges are no powers of two",
        ask: Probe,
    }
    level_sizes: LevelSizes = "level-sizes", "By which size do coordinates in levels of such an image scale?" {
        | Own = "own": "By the level's own: w >> i.",
        | Containers = "containers": "By that of the place, which is a power of two.",
        evidence: "textures.md §4.4; Mesa's images",
        at: "sim/src/tmu/texture.rs", "Level",
        users: "levels of images whose edges are no powers of two",
        ask: Probe,
    }
    cube_neighbours: CubeNeighbours = "cube-neighbours", "Does the filter of a cube reach from a face to its neighbours?" {
        | Apart = "apart": "It ends with the face.",
        | Joined = "joined": "It takes the neighbours' texels.",
        evidence: "textures.md T-SEAMLESS",
        at: "sim/src/tmu/sample.rs", "footprint",
        users: "seamless cubes, which the driver computes itself",
        ask: Probe,
    }
    cube_tie: CubeTie = "cube-tie", "Which face of a cube wins when components are equally large?" {
        | Xyz = "x-y-z": "x, then y, then z.",
        | Zyx = "z-y-x": "z, then y, then x.",
        evidence: "none",
        at: "sim/src/tmu/sample.rs", "cube_face",
        users: "cube filters that the driver computes itself",
        ask: Probe,
    }
    channel_bits: ChannelBits = "channel-bits", "How are channels of 4, 5 or 6 bits expanded to 8?" {
        | Repeated = "repeated": "Their bits are repeated.",
        | Zeros = "zeros": "Zeros follow.",
        evidence: "textures.md §3",
        at: "sim/src/tmu/texel.rs", "expand",
        users: "16-bit textures",
        ask: Probe,
    }
    single_channel: SingleChannel = "single-channel", "Where in r4 do types 9, 10 and 11 put their sample?" {
        | Low = "low": "In the low half or byte.",
        | High = "high": "In the high half or byte.",
        evidence: "textures.md §3",
        at: "sim/src/tmu/texel.rs", "single",
        users: "16-bit textures; stencil textures",
        ask: Probe,
    }
}
others {
    "colour-address", "Does the machine ignore the low four bits of the colour address?" {
        evidence: "v3d.md §5.3",
        at: "src/cl/packets.rs", "TileRenderingModeConfig",
        users: "nothing: targets begin with pages",
        ask: Not("The kernel aligns it; bare metal could."),
    }
    "slots", "How many slots do TMU results (cache, L2, memory), shared units and the uniforms cache take under load?" {
        evidence: "qpu.md §6",
        at: "src/qpu/cost.rs", "COSTS",
        users: "`vc4 cost`; the scheduler",
        ask: Measure("`vc4 probe --numbers`: lookups, special functions, varyings, vectors, moved uniforms, accesses of tiles."),
    }
    "untouched-tile", "What does the machine do with a fragment program that never touches the tile buffer?" {
        evidence: "v3d.md §12",
        at: "src/state/blend/emit.rs", "emit_color",
        users: "nothing: each program writes",
        ask: Not("It may hang the board."),
    }
    "job-time", "How long does a job take on a board that draws nothing - its ioctl, both lists, the interrupts?" {
        evidence: "an estimate",
        at: "shaders/src/picture/estimate.rs", "JOB_SECONDS",
        users: "who runs a kernel that could be drawn",
        ask: Measure("`vc4 probe --numbers`; `vc4 doctor`: latency."),
    }
    "core-clock", "How many clocks per second has a core that runs kernels, at one vector operation each?" {
        evidence: "an estimate",
        at: "shaders/src/picture/estimate.rs", "CORE_HZ",
        users: "who runs a kernel that could be drawn",
        ask: Measure("`cargo xtask bench compute`."),
    }
    "idents", "What do IDENT1 and IDENT2 of each Raspberry Pi read?" {
        evidence: "v3d.md §13",
        at: "kernel-abi/src/gpu.rs", "REFERENCE",
        users: "the simulator's answer",
        ask: Measure("`vc4 doctor`: identity."),
    }
    "bo-bandwidth", "How many bytes per second does the CPU of a Zero and of a Pi 3 read from, and write to, a mapped BO in runs of a cache line?" {
        evidence: "an estimate",
        at: "icd/src/foundation/traffic.rs", "BOARDS",
        users: "transfers: CPU or QPUs",
        ask: Measure("`vc4 probe --numbers`; `vc4 doctor`: bandwidth."),
    }
    "cached-memory", "Do caches that a program maintains by address agree with jobs about buffers of the CMA heap, and is nothing lost that another core wrote meanwhile?" {
        evidence: "arm64's maintenance by virtual address reaches the point of coherency; jobs go to memory by an alias without caches",
        at: "kernel-abi/src/cache.rs", "maintain",
        users: "memory of buffers that the host reads",
        ask: Measure("`vc4 doctor`: caches."),
    }
    "power-up", "Which values does the state have at power-up?" {
        evidence: "v3d.md §5.6",
        at: "sim/src/geometry/state.rs", "reset",
        users: "nothing: lists set all of it",
        ask: Not("Jobs of others have changed it before any of ours; bare metal could."),
    }
    "quad-counters", "Which quads and primitives does each performance event count exactly?" {
        evidence: "v3d.md §13",
        at: "sim/src/stats/counters.rs", "Counters",
        users: "`vc4 sim report`; occlusion queries",
        ask: Measure("`vc4 probe --numbers`: performance counters of a known job."),
    }
    "idle-clocks", "How long do the fixed-function blocks take beside the QPUs?" {
        evidence: "an estimate",
        at: "sim/src/stats/counters.rs", "idle_clocks",
        users: "`vc4 sim report`",
        ask: Measure("`vc4 probe --numbers`: quads."),
    }
    "cache-sizes", "How large and how associative are the caches of uniforms, textures and L2?" {
        evidence: "v3d.md §13",
        at: "sim/src/stats/caches.rs", "CacheModel",
        users: "`vc4 sim report`",
        ask: Measure("`vc4 probe --numbers`: lines that are looked up twice."),
    }
    "tile-lists", "Which of the possible encodings does the PTB choose, and when does it end a compressed list?" {
        evidence: "v3d.md §8",
        at: "sim/src/binning/tile_alloc.rs", "primitive",
        users: "estimates of tile memory",
        ask: Not("The kernel maps no tile memory; a debugging kernel could."),
    }
    "child-images", "How do wrap modes and mip levels see a child image?" {
        evidence: "textures.md §2",
        at: "sim/src/tmu/texture.rs", "cut",
        users: "nothing: the driver makes none",
        ask: Not("The kernel refuses child images; bare metal could."),
    }
    "compared-core", "How many times longer does a kernel take on a core of a Raspberry Pi Zero than on one of the machine that measures?" {
        evidence: "an estimate",
        at: "xtask/src/compute.rs", "ZERO_SLOWDOWN",
        users: "`cargo xtask bench compute`",
        ask: Measure("`cargo xtask bench compute` on a Zero."),
    }
    "reset-message", "What does the kernel's log say when it resets the GPU?" {
        evidence: "the source of Linux 6.1",
        at: "kernel-abi/src/kernel_log.rs", "RESET_MESSAGE",
        users: "VK_ERROR_DEVICE_LOST after a hang",
        ask: Not("A program without end and `dmesg` would tell; the probe hangs no board on purpose."),
    }
    "counters-at-reset", "Do a reset's losses reach the counters?" {
        evidence: "the power is taken away",
        at: "icd/src/execution/watch.rs", "CLOCKS",
        users: "VK_ERROR_DEVICE_LOST where users may not read the log",
        ask: Not("As `reset-message`."),
    }
    "node-name", "What does OF_FULLNAME of a Raspberry Pi's vc4 device say?" {
        evidence: "device trees",
        at: "sim/src/drm/node.rs", "OF_FULLNAME",
        users: "the preloaded node",
        ask: Measure("`udevadm info` of the node."),
    }
}
}
