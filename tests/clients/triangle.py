"""A program on wgpu-py: a kernel whose results it checks, and a triangle that it saves.

`python triangle.py OUT.pam`
"""

import array
import sys

import wgpu

SIZE = 256

DOUBLE = """
@group(0) @binding(0) var<storage, read> numbers: array<i32>;
@group(0) @binding(1) var<storage, read_write> results: array<i32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&results) {
        results[id.x] = 2 * numbers[id.x] - i32(id.x);
    }
}
"""

TRIANGLE = """
struct Shaded { @builtin(position) position: vec4<f32>, @location(0) color: vec3<f32> };

@vertex
fn vertex(@builtin(vertex_index) n: u32) -> Shaded {
    let places = array<vec2<f32>, 3>(vec2(0.0, -0.7), vec2(0.7, 0.6), vec2(-0.8, 0.75));
    let colors = array<vec3<f32>, 3>(vec3(1.0, 1.0, 0.0), vec3(1.0, 0.0, 1.0), vec3(0.0, 1.0, 1.0));
    return Shaded(vec4<f32>(places[n], 0.0, 1.0), colors[n]);
}

@fragment
fn fragment(in: Shaded) -> @location(0) vec4<f32> {
    return vec4<f32>(pow(in.color, vec3<f32>(2.2)), 1.0);
}
"""


def open_device():
    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    print(adapter.info["device"])
    return adapter.request_device_sync()


def check_kernel(device):
    numbers = array.array("i", range(1000, 3000))
    usage = wgpu.BufferUsage.STORAGE
    source = device.create_buffer_with_data(data=numbers, usage=usage)
    target = device.create_buffer(size=source.size, usage=usage | wgpu.BufferUsage.COPY_SRC)
    module = device.create_shader_module(code=DOUBLE)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    entries = [
        {"binding": n, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
        for n, buffer in enumerate([source, target])
    ]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    commands = device.create_command_encoder()
    compute = commands.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, group)
    compute.dispatch_workgroups((len(numbers) + 31) // 32)
    compute.end()
    device.queue.submit([commands.finish()])
    results = device.queue.read_buffer(target).cast("i").tolist()
    if results != [2 * number - n for n, number in enumerate(numbers)]:
        sys.exit("the kernel's results are wrong")


def draw(device, path):
    form = wgpu.TextureFormat.rgba8unorm_srgb
    usage = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
    target = device.create_texture(size=(SIZE, SIZE, 1), format=form, usage=usage)
    module = device.create_shader_module(code=TRIANGLE)
    pipeline = device.create_render_pipeline(
        layout="auto",
        vertex={"module": module, "entry_point": "vertex"},
        primitive={"topology": "triangle-list"},
        fragment={"module": module, "entry_point": "fragment", "targets": [{"format": form}]},
    )
    commands = device.create_command_encoder()
    attachment = {
        "view": target.create_view(),
        "clear_value": (0.05, 0.1, 0.2, 1.0),
        "load_op": "clear",
        "store_op": "store",
    }
    drawing = commands.begin_render_pass(color_attachments=[attachment])
    drawing.set_pipeline(pipeline)
    drawing.draw(3)
    drawing.end()
    device.queue.submit([commands.finish()])
    rows = {"bytes_per_row": 4 * SIZE, "rows_per_image": SIZE}
    pixels = device.queue.read_texture({"texture": target}, rows, (SIZE, SIZE, 1))
    header = f"P7\nWIDTH {SIZE}\nHEIGHT {SIZE}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    with open(path, "wb") as file:
        file.write(header.encode() + bytes(pixels))


def main():
    if len(sys.argv) != 2:
        sys.exit("python triangle.py OUT.pam")
    device = open_device()
    check_kernel(device)
    draw(device, sys.argv[1])


main()
