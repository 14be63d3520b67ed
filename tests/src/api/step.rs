//! What programs are made of. Every step says all that its call needs, and which objects it names.

use ash::vk;

use super::slot::{Id, data};

/// What pools of queries count: samples, one number of the pipeline's, or time.
pub const QUERIES: [vk::QueryType; 3] =
    [vk::QueryType::OCCLUSION, vk::QueryType::PIPELINE_STATISTICS, vk::QueryType::TIMESTAMP];

/// The places of an attachment, or of none.
pub type Attachment = Option<Id>;

data! {
    /// One call of the API, or a few that belong together.
    enum Step {
        /// Makes an object.
        Create { id: Id, what: Create },
        /// Ends it.
        Destroy { id: Id },
        /// Begins to record a command buffer.
        Begin { commands: Id, flags: vk::CommandBufferUsageFlags, pass: Option<Id>, framebuffer: Option<Id> },
        /// Records a command.
        Record { commands: Id, command: Command },
        /// Ends the recording.
        End { commands: Id },
        /// Gives command buffers to the queue.
        Submit { commands: Vec<Id>, waits: Vec<Signal>, signals: Vec<Signal>, fence: Option<Id>, newer: bool },
        /// Does something on the host.
        Do { what: Host },
    }

    /// A semaphore, and the value of a timeline.
    struct Signal { semaphore: Id, value: u64 }

    /// Objects.
    enum Create {
        /// Memory with room for buffers and images, which are bound to it.
        Memory { owners: Vec<Id>, spare: u64, gap: u64, newer: bool },
        Buffer { size: u64, usage: vk::BufferUsageFlags },
        BufferView { buffer: Id, format: vk::Format, offset: u64, range: u64 },
        Image { image: ImageShape },
        View { image: Id, kind: vk::ImageViewType, format: vk::Format, range: Range },
        Sampler {
            filter: vk::Filter,
            address: vk::SamplerAddressMode,
            border: vk::BorderColor,
            compare: Option<vk::CompareOp>,
            anisotropy: f32,
            lods: [f32; 2],
        },
        SetLayout { bindings: Vec<Binding>, pushed: bool },
        SetPool { sets: u32, sizes: Vec<PoolSize>, frees: bool },
        Set { pool: Id, layout: Id },
        Template { layout: Id, bindings: Vec<Binding> },
        PipelineLayout { sets: Vec<Id>, push: u32 },
        Module { shader: u32 },
        Cache { from: Option<Id> },
        Compute { layout: Id, module: Id, cache: Option<Id>, group: u32 },
        Graphics { pipeline: Graphics },
        RenderPass { pass: Pass, newer: bool },
        Framebuffer { pass: Id, views: Vec<Id>, extent: [u32; 3], imageless: bool },
        CommandPool { flags: vk::CommandPoolCreateFlags },
        Commands { pool: Id, secondary: bool },
        Fence { signaled: bool },
        Semaphore { timeline: bool, value: u64 },
        Event { },
        Queries { kind: vk::QueryType, count: u32 },
        Surface { },
        Swapchain { surface: Id, images: u32, extent: [u32; 2], mode: vk::PresentModeKHR, old: Option<Id> },
        PrivateSlot { },
    }

    /// What an image is created with.
    struct ImageShape {
        kind: vk::ImageType,
        format: vk::Format,
        extent: [u32; 3],
        levels: u32,
        layers: u32,
        samples: u32,
        linear: bool,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
    }

    /// Levels and layers.
    struct Range { aspects: vk::ImageAspectFlags, level: u32, levels: u32, layer: u32, layers: u32 }

    /// A binding of a set layout.
    struct Binding { number: u32, kind: vk::DescriptorType, count: u32, stages: vk::ShaderStageFlags }

    /// Room of a descriptor pool.
    struct PoolSize { kind: vk::DescriptorType, count: u32 }

    /// What pipelines and passes agree on.
    struct Shape { colors: Vec<vk::Format>, depth: Option<vk::Format>, samples: u32 }

    /// A render pass: all its subpasses draw to the same attachments, the last one resolves.
    struct Pass {
        shape: Shape,
        resolves: bool,
        subpasses: u32,
        load: vk::AttachmentLoadOp,
        store: vk::AttachmentStoreOp,
        optimal: bool,
    }

    /// A graphics pipeline. Without a pass it is for dynamic rendering.
    struct Graphics {
        layout: Id,
        vertex: Id,
        fragment: Option<Id>,
        pass: Option<Id>,
        subpass: u32,
        shape: Shape,
        cache: Option<Id>,
        topology: vk::PrimitiveTopology,
        restart: bool,
        polygon: vk::PolygonMode,
        cull: vk::CullModeFlags,
        front: vk::FrontFace,
        discard: bool,
        blend: Option<Blend>,
        logic: Option<vk::LogicOp>,
        mask: vk::ColorComponentFlags,
        depth: Option<Depth>,
        stencil: Option<Stencil>,
        dynamic: u32,
        extent: [u32; 2],
    }

    /// Blending of colours and alphas.
    struct Blend { from: vk::BlendFactor, to: vk::BlendFactor, op: vk::BlendOp }

    /// A depth test.
    struct Depth { compare: vk::CompareOp, write: bool }

    /// A stencil test of both faces.
    struct Stencil { compare: vk::CompareOp, fail: vk::StencilOp, pass: vk::StencilOp, depth: vk::StencilOp, value: u32 }

    /// A copy between a buffer and a level of an image.
    struct Texels {
        offset: u64,
        row: u32,
        rows: u32,
        aspect: vk::ImageAspectFlags,
        level: u32,
        layer: u32,
        layers: u32,
        origin: [i32; 3],
        extent: [u32; 3],
    }

    /// A piece of a level.
    struct Place { aspect: vk::ImageAspectFlags, level: u32, layer: u32, layers: u32, origin: [i32; 3] }

    /// What is recorded.
    enum Command {
        /// Everything waits for everything.
        Barrier { newer: bool, buffer: Option<Id> },
        Transition { image: Id, from: vk::ImageLayout, to: vk::ImageLayout },
        Fill { buffer: Id, offset: u64, size: u64, word: u32 },
        Update { buffer: Id, offset: u64, words: Vec<u32> },
        CopyBuffer { from: Id, to: Id, regions: Vec<[u64; 3]>, newer: bool },
        Upload { buffer: Id, image: Id, layout: vk::ImageLayout, regions: Vec<Texels>, newer: bool },
        Download { image: Id, layout: vk::ImageLayout, buffer: Id, regions: Vec<Texels>, newer: bool },
        CopyImage { from: Id, to: Id, layouts: [vk::ImageLayout; 2], source: Place, target: Place, extent: [u32; 3], newer: bool },
        Blit {
            from: Id,
            to: Id,
            layouts: [vk::ImageLayout; 2],
            source: Place,
            source_end: [i32; 3],
            target: Place,
            target_end: [i32; 3],
            filter: vk::Filter,
        },
        Resolve { from: Id, to: Id, layouts: [vk::ImageLayout; 2], extent: [u32; 3] },
        ClearColor { image: Id, layout: vk::ImageLayout, words: [u32; 4], range: Range },
        ClearDepth { image: Id, layout: vk::ImageLayout, depth: f32, stencil: u32, range: Range },
        BindPipeline { pipeline: Id, compute: bool },
        BindSets { layout: Id, compute: bool, first: u32, sets: Vec<Id>, dynamic: Vec<u32> },
        PushSet { layout: Id, compute: bool, writes: Vec<Write> },
        Push { layout: Id, offset: u32, words: Vec<u32> },
        BindVertices { first: u32, buffers: Vec<Id>, offset: u64 },
        BindIndices { buffer: Id, offset: u64, kind: vk::IndexType },
        Viewport { place: [f32; 4], depths: [f32; 2] },
        Scissor { origin: [i32; 2], extent: [u32; 2] },
        Numbers { what: u32, value: f32 },
        StencilWord { what: u32, value: u32 },
        BeginPass { pass: Id, framebuffer: Id, views: Vec<Id>, extent: [u32; 2], clears: Vec<[u32; 4]>, secondary: bool },
        NextSubpass { secondary: bool },
        EndPass { },
        BeginRendering { colors: Vec<Id>, depth: Attachment, load: vk::AttachmentLoadOp, store: vk::AttachmentStoreOp, clears: Vec<[u32; 4]>, extent: [u32; 2], layers: u32 },
        EndRendering { },
        ClearAttachments { color: bool, words: [u32; 4], origin: [i32; 2], extent: [u32; 2], layers: u32 },
        Draw { vertices: u32, instances: u32, first: u32, first_instance: u32 },
        DrawIndexed { indices: u32, instances: u32, first: u32, offset: i32 },
        DrawIndirect { buffer: Id, offset: u64, count: u32, stride: u32, indexed: bool },
        Dispatch { groups: [u32; 3] },
        DispatchIndirect { buffer: Id, offset: u64 },
        ResetQueries { queries: Id, first: u32, count: u32 },
        BeginQuery { queries: Id, query: u32, flags: vk::QueryControlFlags },
        EndQuery { queries: Id, query: u32 },
        Timestamp { queries: Id, query: u32, newer: bool },
        CopyQueries { queries: Id, first: u32, count: u32, buffer: Id, offset: u64, stride: u64, flags: vk::QueryResultFlags },
        SetEvent { event: Id },
        ResetEvent { event: Id },
        WaitEvents { events: Vec<Id> },
        Execute { commands: Vec<Id> },
    }

    /// A write to a set: one element, by the kind of the binding.
    struct Write { binding: u32, element: u32, kind: vk::DescriptorType, items: Vec<Item> }

    /// What a descriptor leads to.
    enum Item {
        Buffer { buffer: Id, offset: u64, range: u64 },
        Texels { view: Id },
        Image { view: Option<Id>, sampler: Option<Id> },
    }

    /// What the host does.
    enum Host {
        /// Writes bytes to a buffer's memory: words counted from a number, or indirect arguments.
        Write { buffer: Id, offset: u64, size: u64, seed: u32, arguments: bool },
        /// Shows a buffer.
        Read { buffer: Id },
        /// Gives all of an image contents and the layout GENERAL.
        Prepare { image: Id, seed: u32 },
        /// Shows all of an image.
        ReadImage { image: Id },
        Map { memory: Id, offset: u64, size: u64 },
        Unmap { memory: Id },
        Flush { memory: Id, offset: u64, size: u64, invalidate: bool },
        WriteSet { set: Id, writes: Vec<Write> },
        WriteByTemplate { set: Id, template: Id, items: Vec<Item> },
        CopySet { from: Id, to: Id, binding: u32, count: u32 },
        ResetSetPool { pool: Id },
        ResetCommandPool { pool: Id, release: bool },
        TrimCommandPool { pool: Id },
        ResetCommands { commands: Id, release: bool },
        WaitFences { fences: Vec<Id>, all: bool, timeout: u64 },
        ResetFences { fences: Vec<Id> },
        FenceStatus { fence: Id },
        SetEvent { event: Id },
        ResetEvent { event: Id },
        EventStatus { event: Id },
        SignalTimeline { semaphore: Id, value: u64 },
        WaitTimeline { semaphore: Id, value: u64, timeout: u64 },
        Counter { semaphore: Id },
        ResetQueries { queries: Id, first: u32, count: u32 },
        QueryResults { queries: Id, first: u32, count: u32, stride: u64, flags: vk::QueryResultFlags },
        WaitIdle { device: bool },
        CacheData { cache: Id },
        MergeCaches { into: Id, from: Vec<Id> },
        /// Gets an image, clears it and presents it.
        Frame { swapchain: Id, word: u32, present: bool },
        SetPrivate { slot: Id, object: Id, value: u64 },
        GetPrivate { slot: Id, object: Id },
        /// Questions to the device.
        Ask { what: u32, format: vk::Format, word: u32 },
    }
}

impl Pass {
    /// The attachments: formats and samples.
    pub fn attachments(&self) -> Vec<(vk::Format, u32)> {
        let Shape { colors, depth, samples } = &self.shape;
        let drawn = colors.iter().chain(depth).map(|format| (*format, *samples));
        let resolved = colors.iter().filter(|_| self.resolves).map(|format| (*format, 1));
        drawn.chain(resolved).collect()
    }
}

/// Bits of [`Graphics::dynamic`], in the order of [`DYNAMIC`].
pub fn dynamic_states(bits: u32) -> impl Iterator<Item = vk::DynamicState> {
    DYNAMIC.into_iter().enumerate().filter(move |(bit, _)| bits >> bit & 1 == 1).map(|(_, state)| state)
}

/// The dynamic states that programs use.
pub const DYNAMIC: [vk::DynamicState; 8] = [
    vk::DynamicState::VIEWPORT,
    vk::DynamicState::SCISSOR,
    vk::DynamicState::LINE_WIDTH,
    vk::DynamicState::DEPTH_BIAS,
    vk::DynamicState::BLEND_CONSTANTS,
    vk::DynamicState::STENCIL_COMPARE_MASK,
    vk::DynamicState::STENCIL_WRITE_MASK,
    vk::DynamicState::STENCIL_REFERENCE,
];
