//! Tiles load and store what draws need.

use ash::vk::{CompareOp, StencilOp};

use super::*;
use crate::objects::query::{Asked, QueryCommand};
use crate::pipeline::info::ColorBlend;
use crate::segments::{Start, Target};

/// What a pipeline has otherwise than the fixture's, which changes colours and depth.
type State<'a> = &'a dyn Fn(&mut GraphicsInfo);

fn usual(_: &mut GraphicsInfo) {}

/// Changes no colour.
fn masked(info: &mut GraphicsInfo) {
    let attachments = vec![vk::PipelineColorBlendAttachmentState::default()];
    info.blend = Some(ColorBlend { attachments, ..ColorBlend::default() });
}

/// Looks at no depth.
fn untested(info: &mut GraphicsInfo) {
    info.depth_stencil = Some(DepthStencil::default());
}

/// Tests depth and leaves it.
fn read_only(info: &mut GraphicsInfo) {
    let depth_test = Some(CompareOp::LESS);
    info.depth_stencil = Some(DepthStencil { depth_test, ..DepthStencil::default() });
}

/// Tests stencils, of which this becomes.
fn stencil(op: StencilOp) -> impl Fn(&mut GraphicsInfo) {
    let face = vk::StencilOpState { pass_op: op, ..Default::default() };
    move |info| info.depth_stencil = Some(DepthStencil { stencil: Some([face; 2]), ..Default::default() })
}

/// Draws to these pixels.
fn scissor(x: i32, y: i32, width: u32, height: u32) -> impl Fn(&mut GraphicsInfo) {
    let (offset, extent) = (vk::Offset2D { x, y }, vk::Extent2D { width, height });
    move |info| info.scissors = vec![vk::Rect2D { offset, extent }]
}

/// A segment of a draw by each of these pipelines to 256x256 pixels. What is in memory is loaded and stored.
fn segment(fixture: &Fixture, states: &[State<'_>]) -> RenderSegment {
    let pipelines: Vec<_> = states.iter().map(|state| fixture.pipeline_with(LIST, state)).collect();
    let segments = fixture.record(fixture.whole(), |recording| {
        recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
        for pipeline in &pipelines {
            recording.state.bind_pipeline(pipeline);
            recording.draw(call(3, 0, None)).unwrap();
        }
    });
    let [Segment::Render(render)] = &segments[..] else { panic!("{} segments", segments.len()) };
    let mut target = render.target.clone();
    target.load();
    target.keep();
    RenderSegment::new(target, render.draws.clone())
}

fn drawn(states: &[State<'_>], change: impl Fn(&mut Target)) -> Vec<Job> {
    let fixture = Fixture::new((256, 256), 3);
    let RenderSegment { mut target, draws, .. } = segment(&fixture, states);
    change(&mut target);
    jobs(&fixture.device, &RenderSegment::new(target, draws))
}

/// What the only job loads and stores, and its tiles; `None` without a job.
fn ways(jobs: &[Job]) -> Option<(&'static str, &'static str, [u8; 4])> {
    let name = |loads, stores| match (loads, stores) {
        (true, true) => "both",
        (true, false) => "load",
        (false, true) => "store",
        (false, false) => "neither",
    };
    let [job] = jobs else { return jobs.first().map(|_| panic!("{} jobs", jobs.len())) };
    let submit = job.submit();
    let color = name(submit.color_read.is_some(), submit.color_write.is_some());
    Some((color, name(submit.zs_read.is_some(), submit.zs_write.is_some()), submit.tiles))
}

const ALL: [u8; 4] = [0, 0, 3, 3];

#[test]
fn tiles_move_what_draws_look_at_and_change() {
    let ways = |states: &[State<'_>]| ways(&drawn(states, |_| {}));
    assert_eq!(ways(&[&usual]), Some(("both", "both", ALL)));
    assert_eq!(ways(&[&masked]), Some(("neither", "both", ALL)));
    assert_eq!(ways(&[&untested]), Some(("both", "neither", ALL)));
    assert_eq!(ways(&[&read_only]), Some(("both", "load", ALL)));
    assert_eq!(ways(&[&stencil(StencilOp::KEEP)]), Some(("both", "load", ALL)));
    assert_eq!(ways(&[&stencil(StencilOp::INVERT)]), Some(("both", "both", ALL)));
    // One of several is enough.
    assert_eq!(ways(&[&untested, &masked, &read_only]), Some(("both", "both", ALL)));
    assert_eq!(ways(&[&untested, &read_only]), Some(("both", "load", ALL)));
    // Nothing changes.
    let still = |info: &mut GraphicsInfo| {
        masked(info);
        read_only(info);
    };
    assert_eq!(ways(&[&still]), None);
    assert_eq!(ways(&[]), None);
}

#[test]
fn what_is_cleared_is_stored_and_what_is_dropped_is_not() {
    let still = |info: &mut GraphicsInfo| {
        masked(info);
        untested(info);
    };
    let clear = |target: &mut Target| target.colors[0].start = Start::Clear(7);
    assert_eq!(ways(&drawn(&[&still], clear)), Some(("store", "neither", ALL)));
    let clear = |target: &mut Target| target.depth_stencil_start = Start::Clear(Default::default());
    assert_eq!(ways(&drawn(&[&still], clear)), Some(("neither", "store", ALL)));
    // Depth that is only tested still begins as it is to.
    let test = |target: &mut Target| {
        (target.depth_stencil_start, target.depth_stencil_store) = (Start::Clear(Default::default()), false);
    };
    assert_eq!(ways(&drawn(&[&usual], test)), Some(("both", "neither", ALL)));
    let drop_color = |target: &mut Target| target.colors[0].store = false;
    assert_eq!(ways(&drawn(&[&usual], drop_color)), Some(("neither", "both", ALL)));
    let drop_all = |target: &mut Target| {
        (target.colors[0].store, target.depth_stencil_store) = (false, false);
    };
    assert_eq!(ways(&drawn(&[&usual], drop_all)), None);
    // A resolve is of all that is there.
    let resolve = |target: &mut Target| {
        let color = &mut target.colors[0];
        (color.store, color.resolve) = (false, Some(color.view.clone()));
    };
    let corner = scissor(0, 0, 8, 8);
    assert_eq!(ways(&drawn(&[&still], resolve)), Some(("both", "neither", ALL)));
    assert_eq!(ways(&drawn(&[&corner], resolve)), Some(("both", "both", ALL)));
}

#[test]
fn tiles_that_no_draw_touches_stay_in_memory() {
    let (corner, middle, nowhere) =
        (scissor(10, 70, 20, 20), scissor(130, 100, 1, 90), scissor(300, 0, 9, 9));
    let ways = |states: &[State<'_>], change: &dyn Fn(&mut Target)| ways(&drawn(states, change));
    assert_eq!(ways(&[&corner], &|_| {}), Some(("both", "both", [0, 1, 0, 1])));
    assert_eq!(ways(&[&middle, &corner, &nowhere], &|_| {}), Some(("both", "both", [0, 1, 2, 2])));
    assert_eq!(ways(&[&nowhere], &|_| {}), None);
    let clear = |target: &mut Target| target.colors[0].start = Start::Clear(7);
    assert_eq!(ways(&[&corner], &clear), Some(("store", "both", ALL)));
    assert_eq!(ways(&[&nowhere], &clear), Some(("store", "both", ALL)));
    let clear = |target: &mut Target| target.depth_stencil_start = Start::Clear(Default::default());
    assert_eq!(ways(&[&corner], &clear), Some(("both", "store", ALL)));
}

#[test]
fn what_a_query_counts_is_drawn() {
    let fixture = Fixture::new((256, 256), 3);
    let still = |info: &mut GraphicsInfo| {
        masked(info);
        read_only(info);
        scissor(0, 0, 8, 8)(info);
    };
    let segment = segment(&fixture, &[&still]);
    assert_eq!(ways(&jobs_of(&fixture.device, &segment, false)), None);
    assert_eq!(ways(&jobs_of(&fixture.device, &segment, true)), Some(("both", "both", ALL)));
}

/// A segment may be submitted again inside of a query, and the other way around.
#[test]
fn jobs_that_nobody_counted_are_not_kept_for_queries() {
    let gpu = Arc::new(GpuRecorder::new(Arc::new(Noop::new())));
    let fixture = Fixture::on(device_on(gpu.clone()), (64, 64), 3);
    let still = |info: &mut GraphicsInfo| {
        masked(info);
        read_only(info);
    };
    let render = Segment::Render(Arc::new(segment(&fixture, &[&still])));
    let queue = Queue::new(fixture.device.clone());
    let jobs = |segments: Segments| {
        let segments = vec![Arc::new(segments)];
        queue.push(Work::Commands { waits: vec![], segments, signals: vec![], label: None }).unwrap();
        queue.wait_idle().unwrap();
        gpu.take().len()
    };
    for _ in 0..3 {
        assert_eq!(jobs(vec![render.clone()]), 0);
    }
    let begin = Segment::Query(QueryCommand::Begin(Asked::Occlusion { exact: false }));
    assert_eq!(jobs(vec![begin, render.clone()]), 1);
    assert_eq!(jobs(vec![render]), 1);
}

/// Jobs of one segment store and load between them what it is drawn with, and nothing else.
#[test]
fn depth_that_no_draw_tests_stays_where_it_is_between_jobs() {
    let fixture = Fixture::new((64, 64), 3);
    let drawn = |state: State<'_>| {
        let RenderSegment { target, .. } = segment(&fixture, &[state]);
        let pipeline = fixture.pipeline_with(LIST, state);
        let segments = fixture.record(fixture.whole(), |recording| {
            recording.state.bind_vertices(0, [(&fixture.vertices, 0)].into_iter()).unwrap();
            recording.state.bind_pipeline(&pipeline);
            (0..=vc4::hw::MAX_DRAWS_PER_BIN_LIST).for_each(|_| recording.draw(call(3, 0, None)).unwrap());
        });
        let [Segment::Render(render)] = &segments[..] else { panic!("{} segments", segments.len()) };
        let jobs = jobs(&fixture.device, &RenderSegment::new(target, render.draws.clone()));
        let ways = |job: &Job| (job.submit().zs_read.is_some(), job.submit().zs_write.is_some());
        jobs.iter().map(ways).collect::<Vec<_>>()
    };
    assert_eq!(drawn(&usual), [(true, true); 2]);
    assert_eq!(drawn(&untested), [(false, false); 2]);
}

/// Each word of a wide colour is a pass of its own.
#[test]
fn words_of_colours_that_stay_are_no_passes() {
    let fixture = Fixture::of(device(), vk::Format::R16G16B16A16_SFLOAT, (64, 64), 3);
    let stores = |states: &[State<'_>]| -> Vec<(bool, bool)> {
        let jobs = jobs(&fixture.device, &segment(&fixture, states));
        jobs.iter().map(|job| (job.submit().color_write.is_some(), job.submit().zs_write.is_some())).collect()
    };
    assert_eq!(stores(&[&usual]), [(true, false), (true, true)]);
    assert_eq!(stores(&[&masked]), [(false, true)]);
}
