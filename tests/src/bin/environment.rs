//! `environment NAME`: prints what the driver and the simulator see of a variable.

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    println!("{:?}", vc4_kernel_abi::environment::variable(&name));
}
