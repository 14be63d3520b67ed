//! The IR by itself: builder, verifier, interpreter, text.

use vc4_shaders::ir::interp::{Environment, run};
use vc4_shaders::ir::verify::{VerifyError, verify};
use vc4_shaders::ir::{Builder, Interpolation, Node, Op, Output, Shader, Stage, Type};

const OUT: Output = Output::User { location: 0, component: 0 };

/// Input 0.0 is the element number.
struct Numbers;

impl Environment for Numbers {
    fn input(&mut self, _location: u32, _component: u8) -> [u32; 16] {
        std::array::from_fn(|lane| lane as u32)
    }
}

fn load_input() -> Op {
    Op::LoadInput { location: 0, component: 0, interpolation: Interpolation::Flat }
}

/// Sums 0 .. n-1 by a loop, n being the input.
fn sum_shader() -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().unwrap();
    let [header, stop, go, after] = std::array::from_fn(|_| shader.blocks.push(Default::default()));
    let mut b = Builder::new(&mut shader, entry);
    let n = b.op(load_input(), &[]);
    let (zero, one) = (b.word(0), b.word(1));
    b.block = header;
    let i = b.phi(Type::Word, &[(entry, zero)]);
    let sum = b.phi(Type::Word, &[(entry, zero)]);
    let more = b.slt(i, n);
    let done = b.bnot(more);
    b.block = go;
    let next_sum = b.iadd(sum, i);
    let next = b.iadd(i, one);
    b.add_phi_arg(i, go, next);
    b.add_phi_arg(sum, go, next_sum);
    b.block = after;
    b.store_output(OUT, sum);
    let branch = Node::If {
        cond: done,
        then: vec![Node::Block(stop), Node::Break],
        otherwise: vec![Node::Block(shader.blocks.push(Default::default()))],
    };
    shader.body.push(Node::Loop(vec![Node::Block(header), branch, Node::Block(go)]));
    shader.body.push(Node::Block(after));
    shader
}

#[test]
fn divergent_loop_sums() {
    let shader = sum_shader();
    assert_eq!(verify(&shader), Ok(()), "\n{shader}");
    let outcome = run(&shader, &mut Numbers).unwrap();
    assert_eq!(outcome.output(OUT), std::array::from_fn(|n| (n * n.saturating_sub(1) / 2) as u32));
}

#[test]
fn text_names_everything() {
    let text = sum_shader().to_string();
    for part in ["loop {", "break", "phi v1 from block0, v7 from block3", "store_output 0.0"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn use_before_definition_is_found() {
    let mut shader = sum_shader();
    let entry = shader.entry().unwrap();
    let last = shader.insts_in_order().into_iter().last().unwrap();
    let after = *shader.blocks_in_order().last().unwrap();
    shader.blocks[after].insts.clear();
    shader.blocks[entry].insts.insert(0, last);
    assert!(matches!(verify(&shader), Err(VerifyError::Inst { .. })));
}

#[test]
fn wrong_phi_is_found() {
    let mut shader = sum_shader();
    let phi = shader.insts_in_order().into_iter().find(|&inst| shader.insts[inst].op == Op::Phi).unwrap();
    shader.insts[phi].phi_blocks.swap(0, 1);
    let error = verify(&shader).unwrap_err().to_string();
    assert!(error.contains("is defined on the way"), "{error}");
    shader.insts[phi].phi_blocks.pop();
    shader.insts[phi].args.pop();
    let error = verify(&shader).unwrap_err().to_string();
    assert!(error.contains("names its predecessors"), "{error}");
}

#[test]
fn wrong_types_are_found() {
    let mut shader = Shader::new(Stage::Vertex);
    let entry = shader.entry().unwrap();
    let mut b = Builder::new(&mut shader, entry);
    let word = b.word(3);
    b.emit(Op::BNot, &[word]);
    assert!(verify(&shader).unwrap_err().to_string().contains("fit the operation"));
}

#[test]
fn builder_folds_constants() {
    let mut shader = Shader::new(Stage::Vertex);
    let entry = shader.entry().unwrap();
    let mut b = Builder::new(&mut shader, entry);
    let (two, three) = (b.float(2.0), b.float(3.0));
    let five = b.fadd(two, three);
    let truth = b.flt(two, three);
    let chosen = b.select(truth, five, two);
    assert_eq!(b.shader.const_of(chosen), Some(5.0f32.to_bits()));
}

#[test]
fn endless_loops_end() {
    let mut shader = Shader::new(Stage::Vertex);
    let body = shader.blocks.push(Default::default());
    let after = shader.blocks.push(Default::default());
    shader.body.push(Node::Loop(vec![Node::Block(body)]));
    shader.body.push(Node::Block(after));
    assert_eq!(verify(&shader), Ok(()));
    assert!(run(&shader, &mut Numbers).is_err());
}
