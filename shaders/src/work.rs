//! Counts the steps of inner loops of the back end and of passes in front of it, in tests only: that no part grows faster than the program is shown
//! by counting, not by a clock.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Notes `steps` of some inner loop.
#[inline]
pub fn count(steps: usize) {
    #[cfg(test)]
    STEPS.with(|counter| counter.set(counter.get() + steps as u64));
    #[cfg(not(test))]
    let _ = steps;
}

#[cfg(test)]
mod tests {
    use vc4::state::blend::ColorOutput;

    use super::STEPS;
    use crate::backend::{Inputs, compile};
    use crate::binding::Descriptor;
    use crate::ir::{
        Builder, ImageDim, Interpolation, Lod, Node, Op, Output, Sample, Shader, Stage, Type, Value,
    };
    use crate::pass::{self, lower};
    use crate::state::PipelineState;

    /// A fragment shader that puts its colour together in `size` steps.
    fn steps(size: u32, step: &dyn Fn(&mut Builder, u32, Value) -> Value) -> u64 {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let b = &mut Builder::new(&mut shader, block);
        let interpolation = Interpolation::Smooth;
        let mut value = b.op(Op::LoadInput { location: 0, component: 0, interpolation }, &[]);
        for n in 0..size {
            value = step(b, n, value);
        }
        for component in 0..4 {
            b.store_output(Output::User { location: 0, component }, value);
        }
        let color = ColorOutput::plain(&vc4::image::format::FORMATS[0], false);
        let state = PipelineState { color: Some(color), ..PipelineState::default() };
        pass::lower_control(&mut shader);
        lower::outputs::fragment(&mut shader, &state).expect("one colour is stored");
        let interface = lower::inputs::fragment(&mut shader, &state).expect("one varying is read");
        pass::lower(&mut shader, &state, &[]);
        let inputs = Inputs { count: interface.inputs(), flat: interface.flat_inputs() };
        STEPS.with(|counter| counter.set(0));
        let branched = pass::branch(&shader);
        compile(branched.as_ref().unwrap_or(&shader), inputs).expect("few values are alive");
        STEPS.with(std::cell::Cell::get)
    }

    /// Twice the program may take little more than twice the steps.
    fn check(name: &str, size: u32, step: &dyn Fn(&mut Builder, u32, Value) -> Value) {
        let (half, full) = (steps(size, step), steps(2 * size, step));
        assert!(half > u64::from(size), "{name}: {half} steps for {size} rounds are not all of them");
        assert!(full < half * 5 / 2, "{name}: {half} steps for {size} rounds, {full} for {}", 2 * size);
    }

    const BUFFER: Descriptor = Descriptor { set: 0, binding: 0, element: 0 };

    #[test]
    fn a_chain_takes_linear_work() {
        check("chain", 1000, &|b, n, value| {
            let factor = b.op(Op::LoadUbo { buffer: BUFFER, offset: 4 * (n % 64) }, &[]);
            let product = b.op(Op::FMul, &[value, factor]);
            b.op(Op::FAdd, &[product, factor])
        });
    }

    #[test]
    fn ready_operations_take_linear_work() {
        // The terms wait for nothing but uniforms, so all of them are ready from the start.
        check("terms", 1000, &|b, n, value| {
            let [x, y] = [4 * n, 4 * n + 4].map(|offset| b.op(Op::LoadUbo { buffer: BUFFER, offset }, &[]));
            let product = b.op(Op::FMul, &[x, y]);
            b.op(Op::FAdd, &[value, product])
        });
    }

    #[test]
    fn fetches_take_linear_work() {
        check("fetches", 200, &|b, n, value| {
            let image = Descriptor { set: 0, binding: 1 + n % 8, element: 0 };
            let texel = b.emit(Op::Sample(Sample::plain(image, ImageDim::D2, Lod::Auto)), &[value, value]);
            let sum = b.op(Op::FAdd, &[texel[0], texel[3]]);
            b.op(Op::FMul, &[sum, value])
        });
    }

    #[test]
    fn arms_take_linear_work() {
        // Each arm around others holds a register for what is there if it is jumped over.
        for (nests, size) in [(false, 100), (true, 14)] {
            check("arms", size, &|b, n, value| {
                let operand = |b: &mut Builder, offset| b.op(Op::LoadUbo { buffer: BUFFER, offset }, &[]);
                let (word, zero) = (operand(b, 4 * (n % 64)), b.word(0));
                let condition = b.op(Op::INe, &[word, zero]);
                let mut arm = value;
                for m in 0..40 {
                    let factor = operand(b, 256 + 4 * ((n + m) % 64));
                    let op = [Op::FMul, Op::FAdd][m as usize % 2];
                    arm = b.op(op, &[arm, factor]);
                }
                // What follows is needed on one side only, or on both.
                let other = if nests { b.float(0.5) } else { value };
                b.select(condition, arm, other)
            });
        }
    }

    /// Steps of sharing factors among `size` products of unit vectors, each of which waits for the one before.
    fn factoring(size: u32) -> u64 {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let b = &mut Builder::new(&mut shader, entry);
        let interpolation = Interpolation::Smooth;
        let mut sum = b.op(Op::LoadInput { location: 0, component: 0, interpolation }, &[]);
        for _ in 0..size {
            let other = b.op(Op::LoadPush(0), &[]);
            let square = b.op(Op::FMul, &[sum, other]);
            let scale = b.op(Op::FInverseLength, &[square]);
            let terms = [0, 1, 2].map(|n| {
                let [part, weight] = [1 + 2 * n, 2 + 2 * n].map(|n| b.op(Op::LoadPush(n), &[]));
                let component = b.op(Op::FMul, &[part, scale]);
                b.op(Op::FMul, &[component, weight])
            });
            let [x, y, z] = terms;
            let xy = b.op(Op::FAdd, &[x, y]);
            sum = b.op(Op::FAdd, &[xy, z]);
        }
        b.store_output(Output::User { location: 0, component: 0 }, sum);
        let products = |shader: &Shader| {
            let insts = shader.insts_in_order().into_iter();
            insts.filter(|&inst| shader.insts[inst].op.is(Op::FMul)).count()
        };
        let before = products(&shader);
        STEPS.with(|counter| counter.set(0));
        pass::factor(&mut shader);
        let steps = STEPS.with(std::cell::Cell::get);
        assert_eq!(
            products(&shader),
            before - 2 * size as usize,
            "each is scaled once, not in its components"
        );
        steps
    }

    #[test]
    fn unit_vectors_take_linear_work() {
        let (half, full) = (factoring(200), factoring(400));
        assert!(half >= 200, "{half} steps for 200 vectors do not look at them");
        assert!(full < half * 5 / 2, "{half} steps for 200 vectors, {full} for 400");
    }

    /// Steps of value numbering over `size` ifs whose arms all compute the same.
    fn numbering(size: u32) -> u64 {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let b = &mut Builder::new(&mut shader, entry);
        let interpolation = Interpolation::Smooth;
        let input = b.op(Op::LoadInput { location: 0, component: 0, interpolation }, &[]);
        for n in 0..size {
            let limit = b.float(n as f32);
            let cond = b.op(Op::FLt, &[input, limit]);
            let [then, otherwise, join] = [(); 3].map(|()| b.shader.blocks.push(Default::default()));
            b.block = then;
            let sum = b.op(Op::FAdd, &[input, input]);
            b.store_output(Output::User { location: 0, component: 0 }, sum);
            let [then, otherwise] = [then, otherwise].map(|block| vec![Node::Block(block)]);
            b.shader.body.extend([Node::If { cond, then, otherwise }, Node::Block(join)]);
            b.block = join;
        }
        STEPS.with(|counter| counter.set(0));
        pass::opt::cse::run(&mut shader);
        STEPS.with(std::cell::Cell::get)
    }

    #[test]
    fn equal_arms_are_numbered_in_linear_work() {
        let (half, full) = (numbering(500), numbering(1000));
        assert!(half >= 499, "{half} steps for 500 arms do not compare them");
        assert!(full < half * 5 / 2, "{half} steps for 500 arms, {full} for 1000");
    }

    /// Steps of finding out what `size` loops, one behind the other, leave to each other.
    fn loops(size: u32) -> u64 {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let interpolation = Interpolation::Smooth;
        let mut before = entry;
        let load = Op::LoadInput { location: 0, component: 0, interpolation };
        let mut sum = Builder::new(&mut shader, entry).op(load, &[]);
        for _ in 0..size {
            let [head, then, otherwise, last, behind] =
                [(); 5].map(|()| shader.blocks.push(Default::default()));
            let b = &mut Builder::new(&mut shader, head);
            let phi = b.phi(Type::Word, &[(before, sum)]);
            let zero = b.float(0.0);
            let ends = b.op(Op::FLt, &[phi, zero]);
            let next = Builder::new(&mut shader, last).op(Op::FSub, &[phi, zero]);
            Builder::new(&mut shader, last).add_phi_arg(phi, last, next);
            let then = vec![Node::Block(then), Node::Break];
            let leave = Node::If { cond: ends, then, otherwise: vec![Node::Block(otherwise)] };
            let body = vec![Node::Block(head), leave, Node::Block(last)];
            shader.body.extend([Node::Loop(body), Node::Block(behind)]);
            (before, sum) = (behind, phi);
        }
        let b = &mut Builder::new(&mut shader, before);
        b.store_output(Output::User { location: 0, component: 0 }, sum);
        STEPS.with(|counter| counter.set(0));
        pass::lower_control(&mut shader);
        STEPS.with(std::cell::Cell::get)
    }

    #[test]
    fn loops_take_linear_work() {
        let (half, full) = (loops(200), loops(400));
        assert!(half >= 200, "{half} steps for 200 loops do not look at them");
        assert!(full < half * 5 / 2, "{half} steps for 200 loops, {full} for 400");
    }

    /// Steps of what is alive where, in a chain of `size` ifs, each in the other arm of the one before.
    fn chain_of_ifs(size: u32) -> u64 {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, entry);
        let interpolation = Interpolation::Smooth;
        let input = b.op(Op::LoadInput { location: 0, component: 0, interpolation }, &[]);
        let zero = b.float(0.0);
        let cond = b.op(Op::FLt, &[input, zero]);
        let mut inner: Vec<Node> = Vec::new();
        for _ in 0..size {
            let [before, then] = [(); 2].map(|()| shader.blocks.push(Default::default()));
            let choice = Node::If { cond, then: vec![Node::Block(then)], otherwise: inner };
            inner = vec![Node::Block(before), choice];
        }
        shader.body.extend(inner);
        STEPS.with(|counter| counter.set(0));
        pass::analysis::live::Live::of(&shader);
        STEPS.with(std::cell::Cell::get)
    }

    #[test]
    fn chains_of_ifs_take_linear_work() {
        let (half, full) = (chain_of_ifs(8), chain_of_ifs(16));
        assert!(half >= 8, "{half} steps for 8 ifs do not look at them");
        assert!(full < half * 5 / 2, "{half} steps for 8 ifs, {full} for 16");
    }
}
