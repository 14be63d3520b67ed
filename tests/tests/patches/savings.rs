//! What blending costs, in instructions of the whole program.

use vc4::image::Format;
use vc4::state::blend::{Blend, BlendEquation, BlendFactor, BlendOp, ColorOutput, blends_bytes};

use crate::blend::{program, targets};

fn same(src: BlendFactor, dst: BlendFactor, op: BlendOp) -> Blend {
    let equation = BlendEquation { src, dst, op };
    Blend { color: equation, alpha: equation }
}

/// Common states.
fn states() -> Vec<(&'static str, Blend)> {
    use BlendFactor as F;
    use BlendOp::{Add, Max, ReverseSubtract};
    let over = same(F::SrcAlpha, F::OneMinusSrcAlpha, Add);
    let separate = Blend { alpha: BlendEquation { src: F::One, dst: F::OneMinusSrcAlpha, op: Add }, ..over };
    vec![
        ("alpha over", over),
        ("alpha over, alpha separate", separate),
        ("premultiplied over", same(F::One, F::OneMinusSrcAlpha, Add)),
        ("additive", same(F::One, F::One, Add)),
        ("additive by alpha", same(F::SrcAlpha, F::One, Add)),
        ("multiply", same(F::DstColor, F::Zero, Add)),
        ("modulate twice", same(F::DstColor, F::SrcColor, Add)),
        ("screen", same(F::One, F::OneMinusSrcColor, Add)),
        ("under", same(F::OneMinusDstAlpha, F::DstAlpha, Add)),
        ("constant", same(F::ConstantColor, F::OneMinusConstantColor, Add)),
        ("saturate", same(F::SrcAlphaSaturate, F::One, Add)),
        ("reverse subtract", same(F::SrcAlpha, F::One, ReverseSubtract)),
        ("maximum", same(F::One, F::One, Max)),
    ]
}

#[test]
fn bytes_are_never_longer_than_floats() {
    let plain = ColorOutput::plain(Format::R8G8B8A8.info(), false);
    let replace = program(plain).len();
    println!("{:28} bytes floats (unblended: {replace})", "RGBA8");
    for (name, blend) in states() {
        let output = ColorOutput { blend: Some(blend), ..plain };
        let floats = program(ColorOutput { precise: true, ..output }).len();
        let chosen = program(output).len();
        println!(
            "{name:28} {:>5} {floats:6}",
            if blends_bytes(&output) { chosen.to_string() } else { "-".into() }
        );
        assert!(chosen <= floats, "{name}: {chosen} instructions on bytes, {floats} in floats");
        if name == "alpha over" {
            assert!(blends_bytes(&output) && chosen + 6 <= floats, "{chosen} against {floats}");
        }
    }
}

#[test]
fn costs_of_targets() {
    let (_, over) = states()[0];
    println!("{:28} plain  over", "target");
    for target in targets() {
        let plain = program(target.output).len();
        let blended = program(ColorOutput { blend: Some(over), ..target.output }).len();
        println!("{:28} {plain:5} {blended:5}", target.name);
        assert!(blended < 160, "{}: {blended} instructions", target.name);
    }
}
