//! Jobs of small draws, checked by the kernel's rules (every `inspect` here is strict) and by what the manual shows.

use std::sync::Arc;

use ash::vk;
use vc4::cl::AnyPacket;
use vc4::cl::list::read_binner;
use vc4_kernel_abi::{Noop, Recorder as GpuRecorder, SubmitFlags};

use super::{Iota, Job, JobBuilder, Ledger, Shadows, Site, build};
use crate::execution::changes::Changes;
use crate::execution::queue::Queue;
use crate::execution::work::Work;
use crate::foundation::traffic::Cause;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::image_view::ImageView;
use crate::objects::memory::{DeviceMemory, Origin};
use crate::objects::memory_type::MemoryType;
use crate::objects::placement::Placement;
use crate::objects::render_pass::{Attachment, Framebuffer, RenderPass, Subpass};
use crate::pipeline::Pipeline;
use crate::pipeline::info::{DepthStencil, GraphicsInfo, Multisample, Raster, Stage, VertexInput};
use crate::pipeline::layout::PipelineLayout;
use crate::pipeline::module::ShaderModule;
use crate::recording::pass::PassBegin;
use crate::recording::recorder::Recorder;
use crate::segments::{DrawParameters, IndirectDraw, RenderSegment, Segment, Segments};
use crate::testing::{device, device_on, device_with};
use crate::transfers::buffer::FillBuffer;
use crate::transfers::fill::ClearWords;

mod merging;
mod trimming;

macro_rules! spirv {
    ($name:literal) => {
        module(include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/shaders/", $name, ".spv")))
    };
}

fn module(bytes: &[u8]) -> Arc<ShaderModule> {
    let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    Arc::new(ShaderModule::new(words.collect()).unwrap())
}

/// Bytes of a vertex of `pos_color.vert`.
const VERTEX: u32 = 28;

/// A pass with colour and depth, a pipeline for it, and vertices.
struct Fixture {
    device: Arc<Device>,
    pass: Arc<RenderPass>,
    framebuffer: Arc<Framebuffer>,
    vertices: Arc<Buffer>,
}

fn view(device: &Arc<Device>, format: vk::Format, size: (u32, u32)) -> Arc<ImageView> {
    view_and_memory(device, format, size).0
}

fn view_and_memory(
    device: &Arc<Device>,
    format: vk::Format,
    (width, height): (u32, u32),
) -> (Arc<ImageView>, DeviceMemory) {
    let info = vk::ImageCreateInfo {
        image_type: vk::ImageType::TYPE_2D,
        format,
        extent: vk::Extent3D { width, height, depth: 1 },
        mip_levels: 1,
        array_layers: 1,
        samples: vk::SampleCountFlags::TYPE_1,
        usage: match format {
            vk::Format::D24_UNORM_S8_UINT => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            _ => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        },
        ..Default::default()
    };
    let image = Arc::new(Image::new(device, &info).unwrap());
    let size = image.requirements().size;
    let memory = DeviceMemory::new(device, size, MemoryType::Device, Origin::Alone).unwrap();
    image.bind(&memory, 0).unwrap();
    let subresource_range = vk::ImageSubresourceRange {
        aspect_mask: image.row().aspects(),
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let view_type = vk::ImageViewType::TYPE_2D;
    let info = vk::ImageViewCreateInfo { view_type, format, subresource_range, ..Default::default() };
    (Arc::new(ImageView::new(&image, &info).unwrap()), memory)
}

fn attachment(format: vk::Format) -> Attachment {
    let info = vk::AttachmentDescription2 {
        format,
        samples: vk::SampleCountFlags::TYPE_1,
        load_op: vk::AttachmentLoadOp::CLEAR,
        store_op: vk::AttachmentStoreOp::STORE,
        stencil_load_op: vk::AttachmentLoadOp::DONT_CARE,
        stencil_store_op: vk::AttachmentStoreOp::DONT_CARE,
        ..Default::default()
    };
    Attachment::new(&info).unwrap()
}

fn buffer(device: &Arc<Device>, size: u64) -> Arc<Buffer> {
    let buffer = Buffer::new(device, &vk::BufferCreateInfo { size, ..Default::default() }).unwrap();
    // A BO that ends with the buffer, so that reads beyond it are refused.
    let memory =
        DeviceMemory::new(device, size.next_multiple_of(4096), MemoryType::Device, Origin::Alone).unwrap();
    buffer.bind(&memory, memory.size() - size.next_multiple_of(64)).unwrap();
    Arc::new(buffer)
}

impl Fixture {
    /// On a device that checks what draws read.
    fn new(size: (u32, u32), vertices: u64) -> Fixture {
        let robust = vk::PhysicalDeviceFeatures { robust_buffer_access: vk::TRUE, ..Default::default() };
        Fixture::on(device_with(robust), size, vertices)
    }

    fn on(device: Arc<Device>, size: (u32, u32), vertices: u64) -> Fixture {
        Fixture::of(device, vk::Format::R8G8B8A8_UNORM, size, vertices)
    }

    /// With colours of a format.
    fn of(device: Arc<Device>, color: vk::Format, size: (u32, u32), vertices: u64) -> Fixture {
        let formats = [color, vk::Format::D24_UNORM_S8_UINT];
        let subpass = Subpass { colors: vec![Some(0)], depth_stencil: Some(1), ..Default::default() };
        let pass = RenderPass::new(formats.map(attachment).to_vec(), vec![subpass]).unwrap();
        let views = formats.map(|format| view(&device, format, size)).to_vec();
        let framebuffer = Framebuffer::new(views, (size.0, size.1, 1)).unwrap();
        let vertices = buffer(&device, vertices * u64::from(VERTEX));
        Fixture { device, pass: Arc::new(pass), framebuffer: Arc::new(framebuffer), vertices }
    }

    fn pipeline(&self, topology: vk::PrimitiveTopology) -> Arc<Pipeline> {
        self.pipeline_with(topology, |_| {})
    }

    /// A pipeline with other state.
    fn pipeline_with(
        &self,
        topology: vk::PrimitiveTopology,
        change: impl FnOnce(&mut GraphicsInfo),
    ) -> Arc<Pipeline> {
        let stage = |stage, module| Stage {
            stage,
            module,
            entry: "main".into(),
            constants: Vec::new(),
            conversions: Arc::default(),
        };
        let attribute = |location, format, offset| vk::VertexInputAttributeDescription {
            location,
            binding: 0,
            format,
            offset,
        };
        let (width, height) = (self.framebuffer.width as f32, self.framebuffer.height as f32);
        let viewport = vk::Viewport { width, height, max_depth: 1.0, ..Default::default() };
        let mut info = GraphicsInfo {
            stages: vec![
                stage(vk::ShaderStageFlags::VERTEX, spirv!("pos_color.vert")),
                stage(vk::ShaderStageFlags::FRAGMENT, spirv!("pos_color.frag")),
            ],
            vertex: VertexInput {
                bindings: vec![vk::VertexInputBindingDescription {
                    binding: 0,
                    stride: VERTEX,
                    input_rate: vk::VertexInputRate::VERTEX,
                }],
                attributes: vec![
                    attribute(0, vk::Format::R32G32B32_SFLOAT, 0),
                    attribute(1, vk::Format::R32G32B32A32_SFLOAT, 12),
                ],
                divisors: Vec::new(),
            },
            topology,
            restart: true,
            viewports: vec![viewport],
            scissors: vec![self.whole()],
            raster: Raster { line_width: 1.0, ..Raster::default() },
            multisample: Some(Multisample {
                samples: vk::SampleCountFlags::TYPE_1,
                sample_shading: None,
                mask: !0,
                alpha_to_coverage: false,
                alpha_to_one: false,
            }),
            depth_stencil: Some(DepthStencil {
                depth_test: Some(vk::CompareOp::LESS),
                depth_write: true,
                ..DepthStencil::default()
            }),
            blend: None,
            dynamic: Vec::new(),
            layout: Arc::new(PipelineLayout::new(Vec::new(), &[]).unwrap()),
            formats: self.pass.formats(0).unwrap(),
            may_compile: true,
            name: Arc::default(),
        };
        change(&mut info);
        Arc::new(Pipeline::new(&self.device, info, None).unwrap())
    }

    fn whole(&self) -> vk::Rect2D {
        let (width, height) = (self.framebuffer.width, self.framebuffer.height);
        vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } }
    }

    /// Records a pass over `area` and returns its segments.
    fn record(&self, area: vk::Rect2D, commands: impl FnOnce(&mut Recorder)) -> Vec<Segment> {
        let mut recording = Recorder::new(false, Default::default());
        let clears =
            vec![ClearWords([1f32.to_bits(), 0, 0, 1f32.to_bits()]), ClearWords([1f32.to_bits(), 7, 0, 0])];
        let (render_pass, framebuffer) = (self.pass.clone(), self.framebuffer.clone());
        let begin = PassBegin { render_pass, framebuffer, area, clears, suspends: false };
        recording.begin_pass(&self.device, begin).unwrap();
        commands(&mut recording);
        recording.end_pass().unwrap();
        recording.finish().unwrap().segments.to_vec()
    }

    /// The jobs of one draw, each checked.
    fn draw(
        &self,
        topology: vk::PrimitiveTopology,
        indices: Option<(&[u8], vk::IndexType)>,
        call: DrawParameters,
    ) -> Vec<Job> {
        let pipeline = self.pipeline(topology);
        let segments = self.record(self.whole(), |recording| {
            recording.state.bind_pipeline(&pipeline);
            recording.state.bind_vertices(0, [(&self.vertices, 0)].into_iter()).unwrap();
            if let Some((bytes, ty)) = indices {
                let buffer = buffer(&self.device, bytes.len() as u64);
                let binding = buffer.binding().unwrap();
                binding.bo.map().unwrap().write(binding.offset as usize, bytes);
                recording.state.bind_indices(&buffer, 0, ty);
            }
            recording.draw(call).unwrap();
        });
        let [Segment::Render(render)] = &segments[..] else { panic!("{} segments", segments.len()) };
        jobs(&self.device, render)
    }
}

/// The jobs of a segment, each checked.
fn jobs(device: &Arc<Device>, render: &RenderSegment) -> Vec<Job> {
    jobs_of(device, render, false)
}

/// The same; `is_counted`: a query counts what they draw.
fn jobs_of(device: &Arc<Device>, render: &RenderSegment, is_counted: bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut keep = |job: &mut Job| {
        job.inspect()?;
        jobs.push(std::mem::take(job));
        Ok(())
    };
    let (iota, ledger) = (Iota::new(device.clone()), Ledger::default());
    let site = Site {
        iota: &iota,
        ledger: &ledger,
        shadows: &Shadows::default(),
        changes: &Changes::default(),
        is_counted,
    };
    build(site, render, &mut JobBuilder::default(), &mut keep).unwrap();
    jobs
}

const LIST: vk::PrimitiveTopology = vk::PrimitiveTopology::TRIANGLE_LIST;
const STRIP: vk::PrimitiveTopology = vk::PrimitiveTopology::TRIANGLE_STRIP;

fn call(count: u32, first: u32, vertex_offset: Option<i32>) -> DrawParameters {
    DrawParameters { count, instances: 1, first, vertex_offset, first_instance: 0 }
}

fn packets(job: &Job) -> Vec<AnyPacket> {
    read_binner(&job.submit().bin_cl).unwrap().into_iter().map(|item| item.packet).collect()
}

/// Counts, bases and largest indices of the primitives in all jobs.
fn primitives(jobs: &[Job]) -> Vec<(u32, Option<u32>)> {
    let one = |packet| match packet {
        AnyPacket::VertexArrayPrimitives(array) => Some((array.count, None)),
        AnyPacket::IndexedPrimitiveList(list) => Some((list.count, Some(list.max_index))),
        _ => None,
    };
    jobs.iter().flat_map(packets).filter_map(one).collect()
}

/// v3d.md §11.1 and the worked example of §11.3.
#[test]
fn a_triangle_becomes_the_list_of_the_manual() {
    let fixture = Fixture::new((64, 64), 3);
    let jobs = fixture.draw(LIST, None, call(3, 0, None));
    let [job] = &jobs[..] else { panic!("{} jobs", jobs.len()) };
    let opcodes: Vec<u8> = packets(job).iter().map(AnyPacket::opcode).collect();
    assert_eq!(opcodes, [112, 6, 56, 102, 96, 101, 98, 99, 105, 106, 103, 97, 64, 33, 7, 4]);
    let submit = job.submit();
    let bytes = &submit.bin_cl;
    assert_eq!(bytes[1 + 12..16], [1, 1, 0]);
    // Window of 64 x 64 pixels; both faces, LESS, write, early Z.
    assert_eq!(bytes[19..32], [102, 0, 0, 0, 0, 64, 0, 64, 0, 96, 0x07, 0x90, 0x03]);
    assert_eq!(bytes[bytes.len() - 17..], [64, 2, 0, 0, 0, 33, 4, 3, 0, 0, 0, 0, 0, 0, 0, 7, 4]);
    assert_eq!((submit.width, submit.height, submit.tiles), (64, 64, [0; 4]));
    assert_eq!(submit.color_write.unwrap().bits, 0x0044);
    assert_eq!(submit.zs_write.unwrap().bits, 0x0012);
    assert_eq!((submit.color_read, submit.zs_read), (None, None));
    assert_eq!(submit.clear_color, [0xff00_00ff; 2]);
    assert_eq!((submit.clear_z, submit.flags), (0xff_ffff, SubmitFlags::USE_CLEAR_COLOR));
    // Three programs, vertices, colour, depth: each once.
    assert_eq!(submit.bos.len(), 6);
    // Three places of programs, two of arrays, and the record of two arrays.
    assert_eq!(submit.shader_rec.len(), 4 * 5 + 36 + 2 * 8);
}

#[test]
fn long_draws_are_cut_where_primitives_end() {
    let count = 200_000;
    let fixture = Fixture::new((64, 64), count);
    let list = fixture.draw(LIST, None, call(count as u32, 0, None));
    assert_eq!(primitives(&list), [(65535, None), (65535, None), (65535, None), (3393, None)]);
    let strip = fixture.draw(STRIP, None, call(70_000, 0, None));
    assert_eq!(primitives(&strip), [(65534, None), (4468, None)]);
}

#[test]
fn no_packet_of_indices_keeps_the_binner_long() {
    let fixture = Fixture::new((64, 64), 100);
    let indices: Vec<u8> = (0..600_002u32).flat_map(|n| ((n % 100) as u16).to_le_bytes()).collect();
    let drawn = |topology, count| {
        primitives(&fixture.draw(topology, Some((&indices, vk::IndexType::UINT16)), call(count, 0, Some(0))))
    };
    let of = |counts: &[u32]| counts.iter().map(|count| (*count, Some(99))).collect::<Vec<_>>();
    assert_eq!(drawn(LIST, 600_000), of(&[262_143, 262_143, 75_714]));
    assert_eq!(drawn(STRIP, 600_000), of(&[262_144, 262_144, 75_716]));
}

#[test]
fn indices_go_through_or_are_rewritten() {
    let fixture = Fixture::new((64, 64), 100_000);
    let short: Vec<u8> = [5u16, 9, 7, 0xffff].iter().flat_map(|i| i.to_le_bytes()).collect();
    let drawn =
        |ty, bytes: &[u8], topology, call| primitives(&fixture.draw(topology, Some((bytes, ty)), call));
    let u16s = vk::IndexType::UINT16;
    assert_eq!(drawn(u16s, &short, LIST, call(3, 0, Some(60_000))), [(3, Some(9))]);
    // Negative offsets, restarts and buffers that end early make lists of their own.
    assert_eq!(drawn(u16s, &short, LIST, call(3, 0, Some(-5))), [(3, Some(4))]);
    assert_eq!(drawn(u16s, &short, STRIP, call(4, 0, Some(0))), [(3, Some(4))]);
    assert_eq!(drawn(u16s, &short, LIST, call(3, 2, Some(0))), [(3, Some(65535))]);
    let wide: Vec<u8> = [80_000u32, 80_001, 90_000, 1, 2, 3].iter().flat_map(|i| i.to_le_bytes()).collect();
    let u32s = vk::IndexType::UINT32;
    assert_eq!(drawn(u32s, &wide, LIST, call(6, 0, Some(0))), [(3, Some(10_000)), (3, Some(2))]);
}

/// Without robustBufferAccess an index that leaves its arrays is the application's mistake. What restarts, or is wider than the
/// machine's indices, is looked at as before.
#[test]
fn indices_are_trusted_where_nobody_asked_for_checks() {
    let fixture = Fixture::on(device(), (64, 64), 1000);
    let bytes: Vec<u8> = [5u16, 9, 7, 0xffff].iter().flat_map(|i| i.to_le_bytes()).collect();
    let drawn = |ty, bytes: &[u8], topology, call| {
        let before = fixture.device.physical().traffic().total();
        let drawn = primitives(&fixture.draw(topology, Some((bytes, ty)), call));
        (drawn, fixture.device.physical().traffic().total().since(&before).of(Cause::Indices).read)
    };
    let u16s = vk::IndexType::UINT16;
    assert_eq!(drawn(u16s, &bytes, LIST, call(3, 0, Some(0))), (vec![(3, Some(999))], 0));
    assert_eq!(drawn(u16s, &bytes, LIST, call(3, 0, Some(900))), (vec![(3, Some(99))], 0));
    assert_eq!(drawn(u16s, &bytes, LIST, call(3, 0, Some(-5))), (vec![(3, Some(4))], 6));
    assert_eq!(drawn(u16s, &bytes, STRIP, call(4, 0, Some(0))), (vec![(3, Some(4))], 8));
    let wide: Vec<u8> = [5u32, 9, 7].iter().flat_map(|i| i.to_le_bytes()).collect();
    assert_eq!(
        drawn(vk::IndexType::UINT32, &wide, LIST, call(3, 0, Some(0))),
        (vec![(3, Some(4))], 12),
        "rewritten"
    );
}

#[test]
fn vertices_that_are_not_there_are_gathered() {
    let fixture = Fixture::new((64, 64), 4);
    // Numbered anew, each once; the arrays of the others come from the driver.
    assert_eq!(primitives(&fixture.draw(LIST, None, call(9, 0, None))), [(9, Some(8))]);
    let indices: Vec<u8> = [0u16, 60_000, 0].iter().flat_map(|i| i.to_le_bytes()).collect();
    let indices = Some((&indices[..], vk::IndexType::UINT16));
    assert_eq!(primitives(&fixture.draw(LIST, indices, call(3, 0, Some(0)))), [(3, Some(1))]);
    assert_eq!(primitives(&fixture.draw(LIST, indices, call(3, 0, Some(i32::MAX)))), [(3, Some(1))]);
}

#[test]
fn primitives_that_span_too_much_are_gathered() {
    let fixture = Fixture::new((64, 64), 200_000);
    let far: Vec<u8> = [0u32, 199_999, 100_000].iter().flat_map(|i| i.to_le_bytes()).collect();
    let indices = Some((&far[..], vk::IndexType::UINT32));
    assert_eq!(primitives(&fixture.draw(LIST, indices, call(3, 0, Some(0)))), [(3, Some(2))]);
}

#[test]
fn too_many_draws_for_the_binner_become_two_jobs() {
    let fixture = Fixture::new((64, 64), 3);
    let call = DrawParameters { instances: 0x1ef1, ..call(3, 0, None) };
    let jobs = fixture.draw(LIST, None, call);
    assert_eq!(
        jobs.iter().map(|job| primitives(std::slice::from_ref(job)).len()).collect::<Vec<_>>(),
        [0x1ef0, 1]
    );
    assert!(jobs[0].submit().color_read.is_none() && jobs[1].submit().color_read.is_some());
    assert!(jobs[0].submit().zs_write.is_some() && jobs[1].submit().zs_read.is_some());
}

#[test]
fn too_many_primitives_for_the_binner_become_two_jobs() {
    // 21845 triangles in 16 tiles of 7 bytes: five times fit into 12 MiB.
    let fixture = Fixture::new((256, 256), 65535);
    let call = DrawParameters { instances: 8, ..call(65535, 0, None) };
    let jobs = fixture.draw(LIST, None, call);
    let draws: Vec<usize> = jobs.iter().map(|job| primitives(std::slice::from_ref(job)).len()).collect();
    assert_eq!(draws, [5, 3]);
    assert!(jobs[1].submit().color_read.is_some() && jobs[1].submit().zs_read.is_some());
}

#[test]
fn areas_that_cut_tiles_are_cleared_in_memory_and_loaded() {
    let fixture = Fixture::new((200, 100), 3);
    let extent = vk::Extent2D { width: 70, height: 40 };
    let area = vk::Rect2D { offset: vk::Offset2D { x: 64, y: 0 }, extent };
    let pipeline = fixture.pipeline(LIST);
    let draw = |recording: &mut Recorder| {
        recording.state.bind_pipeline(&pipeline);
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        recording.draw(call(3, 0, None)).unwrap();
    };
    let segments = fixture.record(area, draw);
    let [Segment::Cpu(color), Segment::Cpu(depth), Segment::Render(render)] = &segments[..] else { panic!() };
    color.run(&fixture.device).unwrap();
    depth.run(&fixture.device).unwrap();
    let word = |attachment: usize, x, y| {
        let view = &fixture.framebuffer.attachments[attachment];
        let Placement::Level(level) = view.placement(0).unwrap() else { panic!("one sample") };
        let at = level.offset_of(x, y) as usize;
        view.image.binding().unwrap().bo.map().unwrap().read_u32(at)
    };
    assert_eq!(
        [word(0, 64, 0), word(0, 133, 39), word(0, 134, 0), word(0, 63, 0)],
        [0xff00_00ff, 0xff00_00ff, 0, 0]
    );
    // The stencil's load operation is DONT_CARE.
    assert_eq!([word(1, 64, 0), word(1, 64, 40)], [0xffff_ff00, 0]);
    let jobs = self::jobs(&fixture.device, render);
    let submit = jobs[0].submit();
    assert_eq!(submit.tiles, [1, 0, 2, 0]);
    assert!(submit.color_read.is_some() && submit.zs_read.is_some());
    // An area that ends with the image needs neither.
    let segments = fixture.record(fixture.whole(), draw);
    let [Segment::Render(render)] = &segments[..] else { panic!() };
    let jobs = self::jobs(&fixture.device, render);
    assert_eq!((jobs[0].submit().color_read, jobs[0].submit().tiles), (None, [0, 0, 3, 1]));
}

/// What the lists of a job hold besides state: records and primitives, by opcode.
fn shape(job: &Job) -> Vec<u8> {
    packets(job).iter().map(AnyPacket::opcode).filter(|opcode| matches!(opcode, 32 | 33 | 64)).collect()
}

#[test]
fn draws_that_differ_in_nothing_share_their_record() {
    let fixture = Fixture::new((64, 64), 12);
    let pipeline = fixture.pipeline(LIST);
    let segments = fixture.record(fixture.whole(), |recording| {
        recording.state.bind_pipeline(&pipeline);
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        // The first two are alike, and so are instances that no program asks the number of.
        recording.draw(call(3, 0, None)).unwrap();
        recording.state.bind_pipeline(&pipeline);
        recording.draw(DrawParameters { instances: 2, ..call(6, 0, None) }).unwrap();
        // Another first vertex stands in the record; other constants stand in its uniforms.
        recording.draw(call(3, 3, None)).unwrap();
        recording.state.push(0, &[1; 4]).unwrap();
        recording.draw(call(3, 3, None)).unwrap();
    });
    let [Segment::Render(render)] = &segments[..] else { panic!() };
    let jobs = jobs(&fixture.device, render);
    assert_eq!(shape(&jobs[0]), [64, 33, 33, 33, 64, 33, 64, 33]);
    assert_eq!(jobs[0].submit().shader_rec_count, 3);
}

#[test]
fn indices_that_are_drawn_again_fit_what_changed_meanwhile() {
    let fixture = Fixture::new((64, 64), 12);
    let pipeline = fixture.pipeline(LIST);
    let few = buffer(&fixture.device, u64::from(VERTEX) * 4);
    let indices = buffer(&fixture.device, 12);
    let binding = indices.binding().unwrap();
    let bytes: Vec<u8> = [0u16, 1, 9, 2, 3, 4].iter().flat_map(|index| index.to_le_bytes()).collect();
    binding.bo.map().unwrap().write(binding.offset as usize, &bytes);
    let segments = fixture.record(fixture.whole(), |recording| {
        let u16s = vk::IndexType::UINT16;
        recording.state.bind_pipeline(&pipeline);
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        recording.state.bind_indices(&indices, 0, u16s);
        // The second differs in nothing, the third in its first vertex.
        recording.draw(call(3, 0, Some(0))).unwrap();
        recording.draw(call(3, 0, Some(0))).unwrap();
        recording.draw(call(3, 0, Some(2))).unwrap();
        // Beyond the last vertex they are gathered, as they are with fewer vertices.
        recording.draw(call(3, 0, Some(3))).unwrap();
        recording.draw(call(3, 0, Some(0))).unwrap();
        recording.state.bind_vertices(0, [(&few, 0)].into_iter()).unwrap();
        recording.draw(call(3, 0, Some(0))).unwrap();
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        recording.state.bind_indices(&indices, 6, u16s);
        recording.draw(call(3, 0, Some(0))).unwrap();
        recording.draw(DrawParameters { instances: 0, ..call(3, 0, Some(0)) }).unwrap();
        recording.draw(call(2, 0, Some(0))).unwrap();
    });
    let [Segment::Render(render)] = &segments[..] else { panic!() };
    let jobs = jobs(&fixture.device, render);
    assert_eq!(shape(&jobs[0]), [64, 32, 32, 64, 32, 64, 32, 64, 32, 64, 32, 64, 32]);
    let largest = [9, 9, 9, 2, 9, 2, 4].map(|index| (3, Some(index)));
    assert_eq!(primitives(&jobs), largest);
}

#[test]
fn state_of_a_draw_that_shows_nothing_reaches_the_next() {
    let fixture = Fixture::new((64, 64), 3);
    let pipeline = fixture.pipeline_with(LIST, |info| info.dynamic.push(vk::DynamicState::SCISSOR));
    let scissor = |width| vk::Rect2D { extent: vk::Extent2D { width, height: width }, ..Default::default() };
    let segments = fixture.record(fixture.whole(), |recording| {
        recording.state.bind_pipeline(&pipeline);
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        for width in [0, 0, 8] {
            recording.state.dynamic().scissor = scissor(width);
            recording.draw(call(3, 0, None)).unwrap();
        }
    });
    let [Segment::Render(render)] = &segments[..] else { panic!() };
    let jobs = jobs(&fixture.device, render);
    assert_eq!(shape(&jobs[0]), [64, 33]);
    let window = packets(&jobs[0]).into_iter().find_map(|packet| match packet {
        AnyPacket::ClipWindow(window) => Some((window.width, window.height)),
        _ => None,
    });
    assert_eq!(window, Some((8, 8)));
}

#[test]
fn jobs_are_kept_until_what_shaped_them_changes() {
    let gpu = Arc::new(GpuRecorder::new(Arc::new(Noop::new())));
    let fixture = Fixture::on(device_on(gpu.clone()), (64, 64), 12);
    let pipeline = fixture.pipeline(LIST);
    let device = &fixture.device;
    let indices = Buffer::new(device, &vk::BufferCreateInfo { size: 64, ..Default::default() }).unwrap();
    let memory = DeviceMemory::new(device, 4096, MemoryType::Device, Origin::Alone).unwrap();
    indices.bind(&memory, 0).unwrap();
    let indices = Arc::new(indices);
    let segments = fixture.record(fixture.whole(), |recording| {
        recording.state.bind_pipeline(&pipeline);
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        // The machine takes no indices of 32 bits: they are rewritten into a BO of the job.
        recording.state.bind_indices(&indices, 0, vk::IndexType::UINT32);
        recording.draw(call(3, 0, Some(0))).unwrap();
    });
    let segments = Arc::new(segments);
    let queue = Queue::new(device.clone());
    let run = |segments: &Arc<Segments>| {
        let work =
            Work::Commands { waits: vec![], segments: vec![segments.clone()], signals: vec![], label: None };
        queue.push(work).unwrap();
        queue.wait_idle().unwrap();
        gpu.take().pop().map(|job| job.bos)
    };
    // Most recordings are submitted once, so the first jobs are not kept.
    let (first, second) = (run(&segments), run(&segments));
    assert_ne!(first, second);
    assert_eq!(run(&segments), second);
    // As long as the host sees the memory, it may write.
    let (mapping, _) = memory.map(0, 12).unwrap();
    let open = run(&segments);
    assert_ne!(open, second);
    mapping.write_u32(4, 7);
    assert_ne!(run(&segments), open);
    memory.unmap();
    let third = run(&segments);
    assert_eq!(run(&segments), third);
    // Commands write, too: those of the CPU to all that they touch.
    let fill = FillBuffer { dst: indices.clone(), offset: 0, size: 4, word: 1 };
    run(&Arc::new(vec![Segment::Cpu(Arc::new(fill))]));
    let fourth = run(&segments);
    assert_ne!(fourth, third);
    assert_eq!(run(&segments), fourth);
}

/// The application writes to its index buffers when it likes; where it is cheap to see what is there, jobs are kept all the same.
/// Jobs of draws that the CPU reads from mapped memory of its own are kept: `draws` records them with a buffer of 64 bytes, which
/// begins at byte 64 of its memory. Writing to `beside` changes nothing, writing to `inside` does.
fn kept_while_memory_of_the_host_is_as_it_was(
    usage: vk::BufferUsageFlags,
    draws: impl FnOnce(&mut Recorder, &Arc<Buffer>),
    (beside, inside): (&[usize], usize),
    cause: Cause,
) {
    let gpu = Arc::new(GpuRecorder::new(Arc::new(Noop::new())));
    let fixture = Fixture::on(device_on(gpu.clone()), (64, 64), 12);
    let pipeline = fixture.pipeline(LIST);
    let device = &fixture.device;
    let buffer =
        Buffer::new(device, &vk::BufferCreateInfo { size: 64, usage, ..Default::default() }).unwrap();
    let memory = DeviceMemory::new(device, 4096, MemoryType::Host, Origin::Shared).unwrap();
    buffer.bind(&memory, 64).unwrap();
    let (buffer, (mapping, _)) = (Arc::new(buffer), memory.map(0, 4096).unwrap());
    // Arguments of a draw: a triangle, once.
    if usage.contains(vk::BufferUsageFlags::INDIRECT_BUFFER) {
        [(68, 3), (72, 1)].iter().for_each(|(at, word)| mapping.write_u32(*at, *word));
    }
    let segments = Arc::new(fixture.record(fixture.whole(), |recording| {
        recording.state.bind_pipeline(&pipeline);
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        draws(recording, &buffer);
    }));
    let queue = Queue::new(device.clone());
    let run = || {
        let segments = vec![segments.clone()];
        queue.push(Work::Commands { waits: vec![], segments, signals: vec![], label: None }).unwrap();
        queue.wait_idle().unwrap();
        gpu.take().pop().map(|job| (job.bos, job.bin_cl, job.shader_rec))
    };
    run();
    let kept = run();
    assert_eq!(run(), kept);
    let counted = || device.physical().traffic().total().of(cause);
    assert_eq!(counted().read, 0);
    beside.iter().for_each(|at| mapping.write_u32(*at, 5));
    assert_eq!(run(), kept);
    mapping.write_u32(inside, 1);
    let other = run();
    assert_ne!(other, kept);
    assert_eq!(run(), other);
    assert_eq!(counted().read, 0);
}

#[test]
fn jobs_are_kept_while_indices_of_the_host_are_as_they_were() {
    let draws = |recording: &mut Recorder, indices: &Arc<Buffer>| {
        recording.state.bind_indices(indices, 4, vk::IndexType::UINT32);
        recording.draw(call(3, 0, Some(0))).unwrap();
    };
    let places: (&[usize], usize) = (&[0, 64, 80], 76);
    let usage = vk::BufferUsageFlags::INDEX_BUFFER;
    kept_while_memory_of_the_host_is_as_it_was(usage, draws, places, Cause::Indices);
}

#[test]
fn jobs_are_kept_while_arguments_of_the_host_are_as_they_were() {
    let draws = |recording: &mut Recorder, buffer: &Arc<Buffer>| {
        let buffer = buffer.clone();
        let draw = IndirectDraw { buffer, offset: 4, count: 2, counted: None, stride: 20, indexed: false };
        recording.draw_indirect(draw).unwrap();
    };
    let usage = vk::BufferUsageFlags::INDIRECT_BUFFER;
    // Of the second draw, which begins with no vertices, the instances; of the first the first vertex.
    let places: (&[usize], usize) = (&[0, 64, 104], 76);
    kept_while_memory_of_the_host_is_as_it_was(usage, draws, places, Cause::Indirect);
}

#[test]
fn indices_are_read_again_when_they_may_have_changed() {
    let fixture = Fixture::on(device_on(Arc::new(Noop::new())), (64, 64), 12);
    let pipeline = fixture.pipeline(LIST);
    let device = &fixture.device;
    let info =
        vk::BufferCreateInfo { size: 64, usage: vk::BufferUsageFlags::TRANSFER_DST, ..Default::default() };
    let make = || {
        let indices = Buffer::new(device, &info).unwrap();
        let memory = DeviceMemory::new(device, 4096, MemoryType::Device, Origin::Shared).unwrap();
        indices.bind(&memory, 0).unwrap();
        (Arc::new(indices), memory)
    };
    let queue = Queue::new(device.clone());
    // Bytes that the CPU reads for a recording of its own, whose jobs nobody keeps.
    let read = |indices: &Arc<Buffer>| {
        let segments = fixture.record(fixture.whole(), |recording| {
            recording.state.bind_pipeline(&pipeline);
            recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
            recording.state.bind_indices(indices, 0, vk::IndexType::UINT32);
            recording.draw(call(3, 0, Some(0))).unwrap();
        });
        let before = device.physical().traffic().total();
        let segments = vec![Arc::new(segments)];
        queue.push(Work::Commands { waits: vec![], segments, signals: vec![], label: None }).unwrap();
        queue.wait_idle().unwrap();
        device.physical().traffic().total().since(&before).sum().read
    };
    let (indices, memory) = make();
    assert_eq!([read(&indices), read(&indices)], [12, 0]);
    // As long as the host sees the memory, it may write.
    memory.map(0, 64).unwrap().0.write_u32(4, 7);
    assert_eq!([read(&indices), read(&indices)], [12, 12]);
    memory.unmap();
    assert_eq!([read(&indices), read(&indices)], [12, 0]);
    let fill = FillBuffer { dst: indices.clone(), offset: 0, size: 4, word: 1 };
    let segments = vec![Arc::new(vec![Segment::Cpu(Arc::new(fill))])];
    queue.push(Work::Commands { waits: vec![], segments, signals: vec![], label: None }).unwrap();
    assert_eq!([read(&indices), read(&indices)], [12, 0]);
    // Others may lie where these have lain, as soon as the queue has forgotten them.
    let (unmapped, its_memory) = make();
    assert_eq!([read(&unmapped), read(&unmapped)], [12, 0]);
    let place = unmapped.binding().unwrap().span();
    drop((unmapped, its_memory));
    let there = |(indices, _): &(Arc<Buffer>, DeviceMemory)| indices.binding().unwrap().span() == place;
    let again = std::iter::repeat_with(|| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        make()
    });
    let (other, _its_memory) = again.take(5000).find(there).expect("memory comes back");
    assert_eq!([read(&other), read(&other)], [12, 0]);
}

#[test]
fn instances_that_show_nothing_or_are_too_many_end() {
    let fixture = Fixture::new((64, 64), 12);
    let pipeline = fixture.pipeline_with(LIST, |info| info.dynamic.push(vk::DynamicState::SCISSOR));
    let segments = fixture.record(fixture.whole(), |recording| {
        recording.state.bind_pipeline(&pipeline);
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        recording.state.dynamic().scissor = fixture.whole();
        recording.draw(call(3, 0, None)).unwrap();
        // Nothing is seen of these: if each counted, the binner's memory would be full and the next a job of its own.
        recording.state.dynamic().scissor = vk::Rect2D::default();
        recording.draw(DrawParameters { instances: super::MAX_PIECES / 2, ..call(3, 0, None) }).unwrap();
        recording.state.dynamic().scissor = fixture.whole();
        // These are left out, and the others drawn.
        recording.draw(DrawParameters { instances: u32::MAX, ..call(3, 0, None) }).unwrap();
        recording.draw(DrawParameters { instances: super::MAX_PIECES, ..call(3, 0, None) }).unwrap();
        recording.draw(DrawParameters { instances: 2, ..call(3, 0, None) }).unwrap();
    });
    let [Segment::Render(render)] = &segments[..] else { panic!() };
    let jobs = jobs(&fixture.device, render);
    assert_eq!((primitives(&jobs), jobs.len()), (vec![(3, None); 3], 1));
}

#[test]
fn passes_change_what_they_draw_to() {
    let fixture = Fixture::new((64, 64), 12);
    let segments = fixture.record(fixture.whole(), |_| ());
    let [Segment::Render(render)] = &segments[..] else { panic!() };
    let mut changes = Changes::default();
    let then = changes.now();
    changes.by_pass(&render.target);
    let drawn = [&render.target.colors[0].view, render.target.depth_stencil.as_ref().unwrap()];
    assert!(drawn.iter().all(|view| changes.since(&view.image.binding().unwrap().span(), then)));
    assert!(!changes.since(&fixture.vertices.binding().unwrap().span(), then));
}
