//! THE packet table: every packet of the control lists once (v3d.md §5). Structs, bytes, text, sizes and the
//! question which list may hold a packet all derive from these rows.

use super::field::{Addr, Bits, Count, F187, FieldType, S12_4, vocabulary};

vocabulary! {
    /// What the vertices of a draw form (v3d.md §5.5).
    PrimitiveMode 4 {
        /// Screen-aligned squares.
        0 Points "points",
        /// Independent lines.
        1 Lines "lines",
        /// Line strip closed to its first vertex; draws nothing with exactly two vertices (v3d.md §12).
        2 LineLoop "line_loop",
        /// Line strip.
        3 LineStrip "line_strip",
        /// Independent triangles.
        4 Triangles "triangles",
        /// Triangle strip.
        5 TriangleStrip "triangle_strip",
        /// Triangle fan.
        6 TriangleFan "triangle_fan",
    }
    /// Size of an index (v3d.md §5.5).
    IndexType 4 {
        /// 8 bits.
        0 U8 "u8",
        /// 16 bits.
        1 U16 "u16",
    }
    /// Kind of the primitives of a compressed list (v3d.md §5.5, PRIMITIVE_LIST_FORMAT).
    ListPrimitive 4 {
        /// Points.
        0 Points "points",
        /// Lines.
        1 Lines "lines",
        /// Triangles.
        2 Triangles "triangles",
        /// Axis-aligned rectangles given by two corners (OpenVG).
        3 Rht "rht",
    }
    /// How a compressed list names vertices (v3d.md §5.5).
    ListIndexing 4 {
        /// By 16-bit index.
        1 Indices16 "indices16",
        /// By 32-bit x/y pairs (OpenVG).
        3 Xy32 "xy32",
    }
    /// What OpenVG coordinates form (v3d.md §5.5).
    VgMode 4 {
        /// Rectangles.
        1 Rht "rht",
        /// Rectangle strip.
        3 RhtStrip "rht_strip",
        /// Triangles.
        4 Triangles "triangles",
        /// Triangle strip.
        5 TriangleStrip "triangle_strip",
        /// Triangle fan.
        6 TriangleFan "triangle_fan",
    }
    /// Which tile buffer a general load or store moves (v3d.md §5.3).
    TileBuffer 3 {
        /// None: a store only clears or separates loads.
        0 None "none",
        /// Colour.
        1 Color "color",
        /// Depth and stencil.
        2 DepthStencil "zs",
        /// Depth alone.
        3 Depth "z",
        /// OpenVG mask.
        4 VgMask "vg_mask",
        /// Everything, in the full dump's private form.
        5 Full "full",
    }
    /// Layout of pixels in memory (v3d.md §5.3, textures.md §4).
    Tiling 2 {
        /// Rows.
        0 Raster "raster",
        /// 4 KiB tiles of subtiles of utiles.
        1 T "t",
        /// Utiles in rows.
        2 Lt "lt",
    }
    /// Samples of a colour store (v3d.md §5.3).
    Decimate 2 {
        /// One sample per pixel, sample 0.
        0 X1 "1x",
        /// Average of four samples.
        1 X4 "4x",
        /// Average of sixteen.
        2 X16 "16x",
    }
    /// Colour format of general loads and stores; the numbering differs from packet 113 (v3d.md §5.3).
    LoadStoreFormat 2 {
        /// R in the lowest byte.
        0 Rgba8888 "rgba8888",
        /// R in bits 15:11, dithered.
        1 Bgr565Dithered "bgr565_dithered",
        /// R in bits 15:11.
        2 Bgr565 "bgr565",
    }
    /// Colour format of the frame; the numbering differs from packets 28 and 29 (v3d.md §5.4).
    FrameFormat 2 {
        /// R in bits 15:11, dithered.
        0 Bgr565Dithered "bgr565_dithered",
        /// R in the lowest byte.
        1 Rgba8888 "rgba8888",
        /// R in bits 15:11.
        2 Bgr565 "bgr565",
    }
    /// Size of the binner's memory blocks (v3d.md §5.4).
    BlockSize 2 {
        /// 32 bytes.
        0 B32 "32",
        /// 64 bytes.
        1 B64 "64",
        /// 128 bytes.
        2 B128 "128",
        /// 256 bytes.
        3 B256 "256",
    }
    /// Which comparisons the early-Z bounds of a frame serve (v3d.md §5.4, §9.5).
    EarlyZDirection 1 {
        /// < and <=.
        0 Less "lt_le",
        /// > and >=.
        1 Greater "gt_ge",
    }
    /// Comparison of depth and stencil tests (v3d.md §5.6, §10.3).
    CompareFunc 3 {
        /// Never passes.
        0 Never "never",
        /// <
        1 Less "lt",
        /// =
        2 Equal "eq",
        /// <=
        3 LessOrEqual "le",
        /// >
        4 Greater "gt",
        /// Not equal.
        5 NotEqual "ne",
        /// >=
        6 GreaterOrEqual "ge",
        /// Always passes.
        7 Always "always",
    }
    /// Samples that the rasteriser takes per pixel (v3d.md §5.6).
    Oversample 2 {
        /// One, at the centre.
        0 X1 "1x",
        /// Four.
        1 X4 "4x",
        /// Sixteen, OpenVG coverage only.
        2 X16 "16x",
    }
    /// Form of coverage reads (v3d.md §5.6).
    CoverageRead 1 {
        /// Four 8-bit levels.
        0 Levels "levels",
        /// A 16-bit mask.
        1 Mask "mask",
    }
    /// How the coverage pipe accumulates (v3d.md §5.6).
    CoverageUpdate 2 {
        /// Non-zero winding.
        0 NonZero "nonzero",
        /// Odd winding.
        1 Odd "odd",
        /// Or.
        2 Or "or",
        /// Zero.
        3 Zero "zero",
    }
}

/// Marker of a binning list (control list thread 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binner {}

/// Marker of a rendering list (control list thread 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renderer {}

/// Which lists may hold a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lists {
    /// Binning lists.
    Binner,
    /// Rendering lists.
    Renderer,
    /// Both.
    Both,
    /// None that a driver writes: software markers and reserved codes with a known name.
    Neither,
}

/// One field of a packet.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// Name of the struct's member.
    pub name: &'static str,
    /// First bit, counted from the byte after the opcode.
    pub bit: u32,
    /// Width in bits.
    pub width: u32,
    /// Kind in words.
    pub kind: &'static str,
    /// Code and name of each value, for enumerations.
    pub names: &'static [(u32, &'static str)],
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct PacketInfo {
    /// First byte of the packet.
    pub opcode: u8,
    /// Name in the manual.
    pub name: &'static str,
    /// Bytes with the opcode; `None` if the size varies or is unknown.
    pub size: Option<usize>,
    /// Where it may stand.
    pub lists: Lists,
    /// Fields in the order of their bits.
    pub fields: &'static [FieldInfo],
}

/// Why bytes are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No byte is left.
    #[error("the list ends where a packet is expected")]
    Empty,
    /// The opcode is reserved.
    #[error("opcode {0} is reserved")]
    UnknownOpcode(u8),
    /// The packet carries data whose length the table does not know.
    #[error("{name} (opcode {opcode}) has no fixed size and cannot be read as a packet")]
    NoFixedSize {
        /// The opcode.
        opcode: u8,
        /// Name in the manual.
        name: &'static str,
    },
    /// The bytes end inside the packet.
    #[error("{name} needs {need} bytes, {have} are left")]
    Truncated {
        /// Name in the manual.
        name: &'static str,
        /// Size of the packet.
        need: usize,
        /// Bytes left.
        have: usize,
    },
    /// A field holds a reserved code.
    #[error("{name}: field {field} holds the reserved code {code}")]
    BadCode {
        /// Name in the manual.
        name: &'static str,
        /// The field.
        field: &'static str,
        /// Its bits.
        code: u32,
    },
    /// Bits outside the fields are set.
    #[error("{name}: reserved bits are set (payload mask {mask:#x})")]
    ReservedBits {
        /// Name in the manual.
        name: &'static str,
        /// The offending bits, counted from the byte after the opcode.
        mask: u128,
    },
    /// The packet may not stand in this kind of list.
    #[error("{name} may not stand in this kind of list")]
    WrongList {
        /// Name in the manual.
        name: &'static str,
    },
}

/// A packet with typed fields.
pub trait Packet: Copy + Default {
    /// First byte.
    const OPCODE: u8;
    /// Bytes with the opcode.
    const SIZE: usize;
    /// Name in the manual.
    const NAME: &'static str;
    /// Where it may stand.
    const LISTS: Lists;
    /// Fields in the order of their bits.
    const FIELDS: &'static [FieldInfo];

    /// The bits after the opcode, lowest first.
    fn payload(&self) -> u128;

    /// The packet with these payload bits.
    fn from_payload(payload: u128) -> Result<Self, ReadError>;

    /// Appends opcode and payload.
    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; 17];
        bytes[0] = Self::OPCODE;
        bytes[1..].copy_from_slice(&self.payload().to_le_bytes());
        // Together: a list grows once a packet.
        out.extend_from_slice(&bytes[..Self::SIZE]);
    }

    /// Reads the packet at the start of `bytes`, opcode included.
    fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        match bytes.first() {
            None => Err(ReadError::Empty),
            Some(&opcode) if opcode != Self::OPCODE => Err(ReadError::UnknownOpcode(opcode)),
            _ if bytes.len() < Self::SIZE => {
                Err(ReadError::Truncated { name: Self::NAME, need: Self::SIZE, have: bytes.len() })
            }
            _ => {
                let mut payload = [0; 16];
                payload[..Self::SIZE - 1].copy_from_slice(&bytes[1..Self::SIZE]);
                Self::from_payload(u128::from_le_bytes(payload))
            }
        }
    }

    /// Appends ` name=value` for every field.
    fn put_fields(&self, out: &mut String);

    /// Sets the field `name` from its text; false if the packet lacks the field or the text is no value of it.
    fn set_field(&mut self, name: &str, text: &str) -> bool;
}

/// Packets that a list of kind `L` may hold.
pub trait AllowedIn<L>: Packet {}

/// Checks one row at compile time: fields inside the packet, ascending, without overlap. Returns their mask.
const fn field_mask(size: usize, fields: &[FieldInfo]) -> u128 {
    let (mut i, mut next, mut mask) = (0, 0, 0);
    while i < fields.len() {
        let FieldInfo { bit, width, .. } = fields[i];
        assert!(bit >= next, "fields overlap or stand out of order");
        next = bit + width;
        mask |= ((1u128 << width) - 1) << bit;
        i += 1;
    }
    assert!(next as usize <= (size - 1) * 8, "a field leaves the packet");
    mask
}

/// Lays out a field and checks that its width suits its type.
pub(crate) const fn field_info<T: FieldType>(name: &'static str, bit: u32, width: u32) -> FieldInfo {
    assert!(width >= T::MIN_WIDTH && width <= T::MAX_WIDTH, "the width does not suit the field's type");
    FieldInfo { name, bit, width, kind: T::KIND, names: T::NAMES }
}

macro_rules! allow {
    (Binner $name:ident) => {
        impl AllowedIn<Binner> for $name {}
    };
    (Renderer $name:ident) => {
        impl AllowedIn<Renderer> for $name {}
    };
    (Both $name:ident) => {
        impl AllowedIn<Binner> for $name {}
        impl AllowedIn<Renderer> for $name {}
    };
    (Neither $name:ident) => {};
}

macro_rules! packets {
    (
        $(
            $(#[$meta:meta])*
            $opcode:literal $text:literal $name:ident $lists:ident $size:literal {
                $( $(#[$fmeta:meta])* @ $bit:literal $width:literal $field:ident : $ty:ty = $default:expr, )*
            }
        )*
        unsized { $( $uopcode:literal $utext:literal $ulists:ident, )* }
    ) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $name { $( $(#[$fmeta])* pub $field: $ty, )* }

            impl Default for $name {
                fn default() -> Self { $name { $($field: $default,)* } }
            }

            impl Packet for $name {
                const OPCODE: u8 = $opcode;
                const SIZE: usize = $size;
                const NAME: &'static str = $text;
                const LISTS: Lists = Lists::$lists;
                const FIELDS: &'static [FieldInfo] =
                    &[$(field_info::<$ty>(stringify!($field), $bit, $width),)*];

                fn payload(&self) -> u128 {
                    0 $(| (u128::from(FieldType::to_bits(self.$field)) << $bit))*
                }

                fn from_payload(payload: u128) -> Result<Self, ReadError> {
                    const USED: u128 = field_mask($size, $name::FIELDS);
                    if payload & !USED != 0 {
                        return Err(ReadError::ReservedBits { name: $text, mask: payload & !USED });
                    }
                    Ok($name {
                        $($field: {
                            let code = ((payload >> $bit) & ((1 << $width) - 1)) as u32;
                            <$ty as FieldType>::from_bits(code)
                                .ok_or(ReadError::BadCode { name: $text, field: stringify!($field), code })?
                        },)*
                    })
                }

                fn put_fields(&self, _out: &mut String) {
                    $(
                        _out.push_str(concat!(" ", stringify!($field), "="));
                        self.$field.put_text(_out);
                    )*
                }

                fn set_field(&mut self, name: &str, _text: &str) -> bool {
                    match name {
                        $(stringify!($field) => <$ty as FieldType>::from_text(_text).map(|value| self.$field = value).is_some(),)*
                        _ => false,
                    }
                }
            }

            allow!($lists $name);
        )*

        /// Any packet of fixed size.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum AnyPacket { $( $(#[$meta])* $name($name), )* }

        $(impl From<$name> for AnyPacket {
            fn from(packet: $name) -> Self { AnyPacket::$name(packet) }
        })*

        /// The table, ascending by opcode, those without a fixed size last.
        pub const PACKETS: &[PacketInfo] = &[
            $(PacketInfo { opcode: $opcode, name: $text, size: Some($size), lists: Lists::$lists, fields: $name::FIELDS },)*
            $(PacketInfo { opcode: $uopcode, name: $utext, size: None, lists: Lists::$ulists, fields: &[] },)*
        ];

        impl AnyPacket {
            /// Reads the packet at the start of `bytes`; its size is [`AnyPacket::size`].
            pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
                let &opcode = bytes.first().ok_or(ReadError::Empty)?;
                match opcode {
                    $($opcode => $name::read(bytes).map(AnyPacket::$name),)*
                    $($uopcode => Err(ReadError::NoFixedSize { opcode, name: $utext }),)*
                    _ => Err(ReadError::UnknownOpcode(opcode)),
                }
            }

            /// The packet of this name with default fields.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(AnyPacket::$name($name::default())),)* _ => None }
            }

            /// Appends opcode and payload.
            pub fn write(&self, out: &mut Vec<u8>) {
                match self { $(AnyPacket::$name(packet) => packet.write(out),)* }
            }

            /// Bytes with the opcode.
            pub fn size(&self) -> usize {
                match self { $(AnyPacket::$name(_) => $size,)* }
            }

            /// First byte.
            pub fn opcode(&self) -> u8 {
                match self { $(AnyPacket::$name(_) => $opcode,)* }
            }

            /// Name in the manual.
            pub fn name(&self) -> &'static str {
                match self { $(AnyPacket::$name(_) => $text,)* }
            }

            /// Where it may stand.
            pub fn lists(&self) -> Lists {
                match self { $(AnyPacket::$name(_) => Lists::$lists,)* }
            }

            /// Appends ` name=value` for every field.
            pub fn put_fields(&self, out: &mut String) {
                match self { $(AnyPacket::$name(packet) => packet.put_fields(out),)* }
            }

            /// Sets the field `name` from its text; false if there is no such field or value.
            pub fn set_field(&mut self, name: &str, text: &str) -> bool {
                match self { $(AnyPacket::$name(packet) => packet.set_field(name, text),)* }
            }
        }
    };
}

/// The row of an opcode; `None` for reserved opcodes.
pub fn info(opcode: u8) -> Option<&'static PacketInfo> {
    PACKETS.iter().find(|row| row.opcode == opcode)
}

impl std::fmt::Display for AnyPacket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = self.name().to_owned();
        self.put_fields(&mut text);
        f.write_str(&text)
    }
}

// Rows: opcode, name in the manual, struct, lists, size; fields as @bit width name: type = default.
packets! {
    /// Stops the thread.
    0 "HALT" Halt Both 1 {}
    /// Does nothing.
    1 "NOP" Nop Both 1 {}
    /// Vendor's marker; reserved in the architecture guide.
    2 "MARKER" Marker Neither 1 {}
    /// Vendor's marker; reserved in the architecture guide.
    3 "RESET_MARKER_COUNT" ResetMarkerCount Neither 1 {}
    /// Closes every tile list with a return and writes it out.
    4 "FLUSH" Flush Binner 1 {}
    /// As FLUSH, also writing all state; ends the tile lists.
    5 "FLUSH_ALL_STATE" FlushAllState Binner 1 {}
    /// Begins binning; before any primitive.
    6 "START_TILE_BINNING" StartTileBinning Binner 1 {}
    /// Increments the other thread's semaphore, after the next flush or the last tile store.
    7 "INCREMENT_SEMAPHORE" IncrementSemaphore Both 1 {}
    /// Waits for a non-zero semaphore and decrements it.
    8 "WAIT_ON_SEMAPHORE" WaitOnSemaphore Both 1 {}
    /// Continues at another address.
    16 "BRANCH" Branch Both 5 {
        /// Bus address.
        @0 32 address: Addr = Addr::ZERO,
    }
    /// Runs a list that ends in a return.
    17 "BRANCH_TO_SUB_LIST" BranchToSubList Both 5 {
        /// Bus address.
        @0 32 address: Addr = Addr::ZERO,
    }
    /// Returns to the calling list.
    18 "RETURN_FROM_SUB_LIST" ReturnFromSubList Both 1 {}
    /// Stores the resolved colour to the frame's surface and clears the tile.
    24 "STORE_MS_TILE_BUFFER" StoreMsTileBuffer Renderer 1 {}
    /// As STORE_MS_TILE_BUFFER, and ends the frame.
    25 "STORE_MS_TILE_BUFFER_AND_EOF" StoreMsTileBufferAndEof Renderer 1 {}
    /// Stores all samples of one tile to a block of its own (v3d.md §5.3, §10.6).
    26 "STORE_FULL_RES_TILE_BUFFER" StoreFullRes Renderer 5 {
        /// Keep the colour out.
        @0 1 skip_color: bool = false,
        /// Keep depth and stencil out.
        @1 1 skip_zs: bool = false,
        /// Do not clear afterwards.
        @2 1 disable_clear: bool = false,
        /// This is the last tile of the frame.
        @3 1 end_of_frame: bool = false,
        /// This tile's block; tile coordinates are not used.
        @4 28 address: Addr<4> = Addr::ZERO,
    }
    /// Loads all samples of one tile (v3d.md §5.3).
    27 "LOAD_FULL_RES_TILE_BUFFER" LoadFullRes Renderer 5 {
        /// Do not read the colour.
        @0 1 skip_color: bool = false,
        /// Do not read depth and stencil.
        @1 1 skip_zs: bool = false,
        /// This tile's block.
        @4 28 address: Addr<4> = Addr::ZERO,
    }
    /// Stores one buffer of the tile into a surface (v3d.md §5.3). Width, height and pitch are the frame's.
    28 "STORE_TILE_BUFFER_GENERAL" StoreGeneral Renderer 7 {
        /// What is stored.
        @0 3 buffer: TileBuffer = TileBuffer::None,
        /// Layout of the surface.
        @4 2 tiling: Tiling = Tiling::Raster,
        /// Samples; needs multisample mode for more than one.
        @6 2 decimate: Decimate = Decimate::X1,
        /// Colour format.
        @8 2 format: LoadStoreFormat = LoadStoreFormat::Rgba8888,
        /// In double-buffer mode, do not swap.
        @12 1 disable_swap: bool = false,
        /// Do not clear the colour afterwards.
        @13 1 disable_clear_color: bool = false,
        /// Do not clear depth and stencil afterwards.
        @14 1 disable_clear_zs: bool = false,
        /// Do not clear the OpenVG mask afterwards.
        @15 1 disable_clear_vg: bool = false,
        /// Full dump: leave the colour out.
        @16 1 skip_color: bool = false,
        /// Full dump: leave depth and stencil out.
        @17 1 skip_zs: bool = false,
        /// Full dump: leave the OpenVG mask out.
        @18 1 skip_vg: bool = false,
        /// This is the last tile of the frame.
        @19 1 end_of_frame: bool = false,
        /// Base of the whole surface.
        @20 28 address: Addr<4> = Addr::ZERO,
    }
    /// Loads one buffer of the tile from a surface, when the tile's coordinates follow (v3d.md §5.3).
    29 "LOAD_TILE_BUFFER_GENERAL" LoadGeneral Renderer 7 {
        /// What is loaded; depth alone is not available.
        @0 3 buffer: TileBuffer = TileBuffer::None,
        /// Layout of the surface.
        @4 2 tiling: Tiling = Tiling::Raster,
        /// Colour format.
        @8 2 format: LoadStoreFormat = LoadStoreFormat::Rgba8888,
        /// Full reload: leave the colour out.
        @16 1 skip_color: bool = false,
        /// Full reload: leave depth and stencil out.
        @17 1 skip_zs: bool = false,
        /// Full reload: leave the OpenVG mask out.
        @18 1 skip_vg: bool = false,
        /// Base of the whole surface.
        @20 28 address: Addr<4> = Addr::ZERO,
    }
    /// Draws with indices (v3d.md §5.5).
    32 "INDEXED_PRIMITIVE_LIST" IndexedPrimitiveList Both 14 {
        /// What the vertices form.
        @0 4 mode: PrimitiveMode = PrimitiveMode::Triangles,
        /// Size of an index.
        @4 4 index_type: IndexType = IndexType::U16,
        /// Number of indices.
        @8 32 count: u32 = 0,
        /// The indices; under Linux a byte offset into the BO that GEM_HANDLES names.
        @40 32 address: Addr = Addr::ZERO,
        /// Largest index that may occur.
        @72 32 max_index: u32 = 0,
    }
    /// Draws consecutive vertices; first + count must not exceed 65535 (v3d.md §5.5, GFXH-515).
    33 "VERTEX_ARRAY_PRIMITIVES" VertexArrayPrimitives Both 10 {
        /// What the vertices form.
        @0 8 mode: PrimitiveMode = PrimitiveMode::Triangles,
        /// Number of vertices.
        @8 32 count: u32 = 0,
        /// First vertex.
        @40 32 first: u32 = 0,
    }
    /// OpenVG coordinates from memory (v3d.md §5.5).
    41 "VG_COORDINATE_ARRAY_PRIMITIVES" VgCoordinateArray Both 10 {
        /// What the coordinates form.
        @0 4 mode: VgMode = VgMode::Triangles,
        /// Continues a fan.
        @4 4 continuation: Bits<4> = Bits::low(0),
        /// Number of coordinates.
        @8 32 count: u32 = 0,
        /// The x,y words.
        @40 32 address: Addr = Addr::ZERO,
    }
    /// Form of the compressed lists that follow, from the next shader state on (v3d.md §4).
    56 "PRIMITIVE_LIST_FORMAT" PrimitiveListFormat Both 2 {
        /// Kind of primitives.
        @0 4 primitive: ListPrimitive = ListPrimitive::Triangles,
        /// How vertices are named.
        @4 4 indexing: ListIndexing = ListIndexing::Indices16,
    }
    /// Uses a GL shader record (v3d.md §6.1).
    64 "GL_SHADER_STATE" GlShaderState Both 5 {
        /// Number of attribute arrays, 1 to 8.
        @0 3 attribute_arrays: Count<3> = Count::MAX,
        /// The record has 26-bit strides.
        @3 1 extended: bool = false,
        /// The record; the kernel fills it in under Linux.
        @4 28 address: Addr<4> = Addr::ZERO,
    }
    /// Uses an NV shader record: vertices are shaded already (v3d.md §6.2).
    65 "NV_SHADER_STATE" NvShaderState Both 5 {
        /// The record.
        @0 32 address: Addr = Addr::ZERO,
    }
    /// Uses a VG shader record: vertices are coordinates alone (v3d.md §6.3).
    66 "VG_SHADER_STATE" VgShaderState Both 5 {
        /// The record.
        @0 32 address: Addr = Addr::ZERO,
    }
    /// A VG shader record inside the list (v3d.md §6.3).
    67 "VG_INLINE_SHADER_RECORD" VgInlineShaderRecord Both 9 {
        /// The fragment program is single threaded.
        @0 1 single_threaded: bool = false,
        /// Fragment program.
        @3 29 code: Addr<3> = Addr::ZERO,
        /// Its uniforms.
        @32 32 uniforms: Addr = Addr::ZERO,
    }
    /// Rasteriser and depth state (v3d.md §5.6).
    96 "CONFIGURATION_BITS" ConfigurationBits Both 4 {
        /// Draw front faces; points and lines count as such.
        @0 1 front: bool = true,
        /// Draw back faces.
        @1 1 back: bool = true,
        /// Clockwise faces are front faces, in numeric coordinates (v3d.md §9.3).
        @2 1 clockwise_front: bool = false,
        /// Add the depth offset.
        @3 1 depth_offset: bool = false,
        /// Not supported by the hardware.
        @4 1 antialias: bool = false,
        /// Form of coverage reads.
        @5 1 coverage_read: CoverageRead = CoverageRead::Levels,
        /// Samples per pixel.
        @6 2 oversample: Oversample = Oversample::X1,
        /// Feed the coverage pipe instead of the fragment program.
        @8 1 coverage_pipe: bool = false,
        /// How coverage accumulates.
        @9 2 coverage_update: CoverageUpdate = CoverageUpdate::NonZero,
        /// Leave coverage in place when it is read.
        @11 1 coverage_keep: bool = false,
        /// Depth comparison; the incoming value stands left.
        @12 3 depth_func: CompareFunc = CompareFunc::Always,
        /// Write depth.
        @15 1 depth_write: bool = false,
        /// Reject quads before shading (v3d.md §9.5).
        @16 1 early_z: bool = false,
        /// Keep the early-Z bounds current.
        @17 1 early_z_update: bool = false,
    }
    /// Varyings that are not interpolated: bit n is scalar n as the vertex program writes them.
    97 "FLAT_SHADE_FLAGS" FlatShadeFlags Both 5 {
        /// The bits.
        @0 32 flags: u32 = 0,
    }
    /// Point size where the vertex data have none.
    98 "POINT_SIZE" PointSize Both 5 {
        /// Edge in pixels, at least 0.125 (HW-2726).
        @0 32 size: f32 = 1.0,
    }
    /// Line width.
    99 "LINE_WIDTH" LineWidth Both 5 {
        /// Width in pixels.
        @0 32 width: f32 = 1.0,
    }
    /// OpenVG only.
    100 "RHT_X_BOUNDARY" RhtXBoundary Both 3 {
        /// Boundary.
        @0 16 x: i16 = 0,
    }
    /// Depth offset: factor * slope + units (v3d.md §5.6, §9.7).
    101 "DEPTH_OFFSET" DepthOffset Both 5 {
        /// Times the slope.
        @0 16 factor: F187 = F187(0),
        /// Times one step of depth.
        @16 16 units: F187 = F187(0),
    }
    /// Scissor in pixels; must lie inside the viewport (v3d.md §9.4).
    102 "CLIP_WINDOW" ClipWindow Both 9 {
        /// First column.
        @0 16 left: u16 = 0,
        /// First row.
        @16 16 bottom: u16 = 0,
        /// Columns.
        @32 16 width: u16 = 0,
        /// Rows.
        @48 16 height: u16 = 0,
    }
    /// Where the origin of shaded vertices lies on the screen (v3d.md §5.6).
    103 "VIEWPORT_OFFSET" ViewportOffset Both 5 {
        /// Column.
        @0 16 x: S12_4 = S12_4(0),
        /// Row.
        @16 16 y: S12_4 = S12_4(0),
    }
    /// Depth range of quads; Linux refuses it.
    104 "Z_MIN_MAX_CLIPPING_PLANES" ZClippingPlanes Both 9 {
        /// Lowest.
        @0 32 min: f32 = 0.0,
        /// Highest.
        @32 32 max: f32 = 1.0,
    }
    /// From clip coordinates over w to sixteenths of a pixel, for vertices that the clipper makes.
    105 "CLIPPER_XY_SCALING" ClipperXyScaling Binner 9 {
        /// Half width times 16.
        @0 32 x: f32 = 0.0,
        /// Half height times 16, of either sign.
        @32 32 y: f32 = 0.0,
    }
    /// From clip z over w to depth, for vertices that the clipper makes. UNVERIFIED: which of the two words comes
    /// first? The guide says the scale; another driver of the vendor says the offset (v3d.md §5.6).
    106 "CLIPPER_Z_SCALE_AND_OFFSET" ClipperZScaleAndOffset Binner 9 {
        /// Scale.
        @0 32 scale: f32 = 0.5,
        /// Offset.
        @32 32 offset: f32 = 0.5,
    }
    /// Set-up of a binning list; its first packet (v3d.md §5.4).
    112 "TILE_BINNING_MODE_CONFIG" TileBinningModeConfig Binner 16 {
        /// Memory for tile lists; the kernel fills it in under Linux, as the next two.
        @0 32 tile_alloc: Addr = Addr::ZERO,
        /// Its size in bytes.
        @32 32 tile_alloc_size: u32 = 0,
        /// Tile state, 48 bytes per tile.
        @64 32 tile_state: Addr = Addr::ZERO,
        /// Columns of tiles.
        @96 8 width_tiles: u8 = 0,
        /// Rows of tiles.
        @104 8 height_tiles: u8 = 0,
        /// 4x multisample mode.
        @112 1 multisample: bool = false,
        /// 64-bit colour.
        @113 1 hdr: bool = false,
        /// Clear the tile state first.
        @114 1 auto_init: bool = false,
        /// First block of each tile list.
        @115 2 initial_block: BlockSize = BlockSize::B32,
        /// Further blocks.
        @117 2 block: BlockSize = BlockSize::B32,
        /// Double-buffered tiles.
        @119 1 double_buffer: bool = false,
    }
    /// Set-up of a frame (v3d.md §5.4).
    113 "TILE_RENDERING_MODE_CONFIG" TileRenderingModeConfig Renderer 11 {
        /// Colour surface, 16-byte aligned. UNVERIFIED: does the machine ignore the low four bits?
        @0 32 address: Addr = Addr::ZERO,
        /// Width in pixels; gives the row pitch of every load and store.
        @32 16 width: u16 = 0,
        /// Height in pixels.
        @48 16 height: u16 = 0,
        /// 4x multisample mode.
        @64 1 multisample: bool = false,
        /// 64-bit colour.
        @65 1 hdr: bool = false,
        /// Colour format.
        @66 2 format: FrameFormat = FrameFormat::Bgr565Dithered,
        /// Samples that a colour store averages.
        @68 2 decimate: Decimate = Decimate::X1,
        /// Layout of the surface.
        @70 2 tiling: Tiling = Tiling::Raster,
        /// Keep the OpenVG mask.
        @72 1 vg_mask: bool = false,
        /// Coverage mode.
        @73 1 coverage: bool = false,
        /// Which comparisons early Z serves.
        @74 1 early_z_direction: EarlyZDirection = EarlyZDirection::Less,
        /// No early Z or coverage.
        @75 1 disable_early_z: bool = false,
        /// Double-buffered tiles.
        @76 1 double_buffer: bool = false,
    }
    /// What a store clears the tile to (v3d.md §5.4).
    114 "CLEAR_COLORS" ClearColors Renderer 14 {
        /// RGBA8888 word; the low half of a 64-bit colour.
        @0 32 color0: u32 = 0,
        /// The same word again; the high half of a 64-bit colour.
        @32 32 color1: u32 = 0,
        /// Depth.
        @64 24 z: Bits<24> = Bits::low(0),
        /// OpenVG mask.
        @88 8 vg_mask: u8 = 0,
        /// Stencil.
        @96 8 stencil: u8 = 0,
    }
    /// Begins a tile; performs the pending load.
    115 "TILE_COORDINATES" TileCoordinates Renderer 3 {
        /// Column. UNVERIFIED above 127: is it signed?
        @0 8 column: u8 = 0,
        /// Row; row 0 is the first in memory.
        @8 8 row: u8 = 0,
    }
    /// Software packet of the Linux interface: BO list entries that following draws use; the kernel removes it.
    254 "GEM_HANDLES" GemHandles Binner 9 {
        /// Entry of the index buffer.
        @0 32 index0: u32 = 0,
        /// Unused today.
        @32 32 index1: u32 = 0,
    }
    unsized {
        19 "REPEAT_MARKER_19" Neither,
        20 "REPEAT_MARKER_20" Neither,
        42 "VG_INLINE_PRIMITIVES" Both,
        48 "COMPRESSED_PRIMITIVE_LIST" Renderer,
        49 "CLIPPED_PRIMITIVE" Renderer,
    }
}
