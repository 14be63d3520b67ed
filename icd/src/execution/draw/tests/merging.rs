//! Passes that follow each other on the same attachments are one.

use super::*;
use crate::segments::Start;

/// The fixture's pass with other operations: what begins it, and whether it keeps what is drawn.
fn pass(load: vk::AttachmentLoadOp, store: vk::AttachmentStoreOp) -> Arc<RenderPass> {
    let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::D24_UNORM_S8_UINT];
    let attachment = |format| {
        let info = vk::AttachmentDescription2 {
            format,
            samples: vk::SampleCountFlags::TYPE_1,
            load_op: load,
            store_op: store,
            stencil_load_op: load,
            stencil_store_op: store,
            ..Default::default()
        };
        Attachment::new(&info).unwrap()
    };
    let subpass = Subpass { colors: vec![Some(0)], depth_stencil: Some(1), ..Default::default() };
    Arc::new(RenderPass::new(formats.map(attachment).to_vec(), vec![subpass]).unwrap())
}

const LOAD: (vk::AttachmentLoadOp, vk::AttachmentStoreOp) =
    (vk::AttachmentLoadOp::LOAD, vk::AttachmentStoreOp::STORE);
const CLEAR: (vk::AttachmentLoadOp, vk::AttachmentStoreOp) = (vk::AttachmentLoadOp::CLEAR, LOAD.1);
const DROP: (vk::AttachmentLoadOp, vk::AttachmentStoreOp) = (LOAD.0, vk::AttachmentStoreOp::DONT_CARE);

/// Records passes of a draw each on framebuffers, with something between them.
fn recorded(
    fixture: &Fixture,
    passes: &[((vk::AttachmentLoadOp, vk::AttachmentStoreOp), &Arc<Framebuffer>)],
    between: impl Fn(&mut Recorder),
) -> Vec<Segment> {
    let mut recording = Recorder::new(false, Default::default());
    let pipeline = fixture.pipeline(LIST);
    for (number, ((load, store), framebuffer)) in passes.iter().enumerate() {
        if number > 0 {
            between(&mut recording);
        }
        let begin = PassBegin {
            render_pass: pass(*load, *store),
            framebuffer: (*framebuffer).clone(),
            area: fixture.whole(),
            clears: vec![ClearWords([0; 4]), ClearWords([0; 4])],
            suspends: false,
        };
        recording.begin_pass(&fixture.device, begin).unwrap();
        recording.state.bind_pipeline(&pipeline);
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        recording.draw(call(3, 0, None)).unwrap();
        recording.end_pass().unwrap();
    }
    recording.finish().unwrap().segments.to_vec()
}

/// Draws of each segment that draws, and others as 0.
fn draws(segments: &[Segment]) -> Vec<usize> {
    let count = |segment: &Segment| match segment {
        Segment::Render(render) => render.draws.iter().map(|list| list.draws().len()).sum(),
        _ => 0,
    };
    segments.iter().map(count).collect()
}

#[test]
fn passes_go_on_in_the_tiles_of_those_before() {
    let fixture = Fixture::new((64, 64), 3);
    let here = &fixture.framebuffer;
    let segments = recorded(&fixture, &[(CLEAR, here), (LOAD, here), (DROP, here)], |_| {});
    let [Segment::Render(render)] = &segments[..] else { panic!("{} segments", segments.len()) };
    // The beginning of the first, the end of the last.
    assert!(matches!(render.target.colors[0].start, Start::Clear(_)));
    assert!(!render.target.colors[0].store && !render.target.depth_stencil_store);
    assert_eq!(draws(&segments), [3]);
    // A view of its own sees the same image.
    let views = here.attachments.iter().map(|view| {
        let again = ImageView::flat(view.image.clone(), view.row, view.stored, 0, 0);
        Arc::new(ImageView { aspects: view.aspects, ..again })
    });
    let there = Arc::new(Framebuffer::new(views.collect(), (64, 64, 1)).unwrap());
    assert_eq!(draws(&recorded(&fixture, &[(CLEAR, here), (LOAD, &there)], |_| {})), [2]);
}

#[test]
fn segments_have_bounds() {
    let fixture = Fixture::new((64, 64), 3);
    let passes = vec![(LOAD, &fixture.framebuffer); 300];
    assert_eq!(draws(&recorded(&fixture, &passes, |_| {})), [256, 44]);
}

#[test]
fn passes_stay_apart_where_one_needs_what_the_other_left_in_memory() {
    let fixture = Fixture::new((64, 64), 3);
    let here = &fixture.framebuffer;
    let drawn = |passes: &[_], between: &dyn Fn(&mut Recorder)| draws(&recorded(&fixture, passes, between));
    // What begins anew, and what was dropped.
    assert_eq!(drawn(&[(LOAD, here), (CLEAR, here)], &|_| {}), [1, 1]);
    assert_eq!(drawn(&[(DROP, here), (LOAD, here)], &|_| {}), [1, 1]);
    // Other images.
    let other = Fixture::new((64, 64), 3).framebuffer;
    assert_eq!(drawn(&[(LOAD, here), (LOAD, &other)], &|_| {}), [1, 1]);
}

/// Records a fill of a buffer.
fn fill(dst: &Arc<Buffer>) -> impl Fn(&mut Recorder) + use<> {
    let dst = dst.clone();
    move |recording| {
        recording.cpu(FillBuffer { dst: dst.clone(), offset: 0, size: 64, word: 7 }).unwrap();
    }
}

#[test]
fn commands_that_do_not_concern_a_pass_come_before_it() {
    let fixture = Fixture::new((64, 64), 3);
    let here = &fixture.framebuffer;
    let fill_other = fill(&buffer(&fixture.device, 64));
    let fill_vertices = fill(&fixture.vertices);
    let drawn = |between: &dyn Fn(&mut Recorder)| {
        draws(&recorded(&fixture, &[(LOAD, here), (LOAD, here), (LOAD, here)], between))
    };
    assert_eq!(drawn(&fill_other), [0, 0, 3]);
    // What the first pass reads, alone or among others.
    assert_eq!(drawn(&fill_vertices), [1, 0, 1, 0, 1]);
    let both = |recording: &mut Recorder| {
        fill_other(recording);
        fill_vertices(recording);
    };
    assert_eq!(drawn(&both), [1, 0, 0, 1, 0, 0, 1]);
    // Too many to be looked at.
    let many = |recording: &mut Recorder| (0..17).for_each(|_| fill_other(recording));
    assert_eq!(drawn(&many).iter().filter(|draws| **draws == 1).count(), 3);
}

#[test]
fn commands_that_concern_attachments_stay_behind_what_drew_to_them() {
    let fixture = Fixture::new((64, 64), 3);
    let (picture, memory) = view_and_memory(&fixture.device, vk::Format::R8G8B8A8_UNORM, (64, 64));
    let views = vec![picture, fixture.framebuffer.attachments[1].clone()];
    let here = Arc::new(Framebuffer::new(views, (64, 64, 1)).unwrap());
    let pixels =
        Buffer::new(&fixture.device, &vk::BufferCreateInfo { size: 64, ..Default::default() }).unwrap();
    pixels.bind(&memory, 0).unwrap();
    let fill_pixels = fill(&Arc::new(pixels));
    assert_eq!(draws(&recorded(&fixture, &[(LOAD, &here), (LOAD, &here)], fill_pixels)), [1, 0, 1]);
}

#[test]
fn passes_that_look_at_the_attachments_of_those_before_stay_apart() {
    let mut fixture = Fixture::new((64, 64), 3);
    // Vertices in the memory of the picture.
    let (picture, memory) = view_and_memory(&fixture.device, vk::Format::R8G8B8A8_UNORM, (64, 64));
    let views = vec![picture, fixture.framebuffer.attachments[1].clone()];
    let here = Arc::new(Framebuffer::new(views, (64, 64, 1)).unwrap());
    let info = vk::BufferCreateInfo { size: 84, ..Default::default() };
    let vertices = Buffer::new(&fixture.device, &info).unwrap();
    vertices.bind(&memory, 0).unwrap();
    fixture.vertices = Arc::new(vertices);
    assert_eq!(draws(&recorded(&fixture, &[(CLEAR, &here), (LOAD, &here)], |_| {})), [1, 1]);
}
