//! `vc4 sim serve`

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::output::{self, Error, Status};
use vc4_sim::drm::screen;
use vc4_sim::drm::serve::Server;
use vc4_sim::{Config, Hangs, Mode};

const EXAMPLES: &str = "\
Examples:
  vc4 sim serve vc4.sock &
  VC4SIM_SERVER=vc4.sock LD_PRELOAD=libvc4_drm_shim.so es2gears_x11

Every process that has the preload library and the variable uses the one device that is served. Programs for
another architecture, run by an emulator, may be among them: the simulator itself stays a native process. The server's environment says where
frames of the display go: VC4SIM_DISPLAY=WxH, VC4SIM_SCANOUT=DIR, VC4SIM_WINDOW=x11.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Where the socket is made
    socket: PathBuf,
    /// Refuse what the kernel only accepts by mistake
    #[arg(long)]
    strict: bool,
    /// Rendering threads; all processors without it
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Bus memory in MiB
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(32..=2048))]
    memory: u32,
    /// Log filter, as `VC4SIM_LOG` of the preload library
    #[arg(long, default_value = "warn")]
    log: String,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    // Nobody else has set one up.
    let _ = env_logger::Builder::new().parse_filters(&options.log).try_init();
    let config = Config {
        memory_bytes: options.memory << 20,
        threads: options.threads,
        mode: if options.strict { Mode::Strict } else { Mode::Faithful },
        hangs: Hangs::Reset,
        ..Config::default()
    };
    let config = config.with_facts_of_environment().map_err(Error::Input)?;
    let path = options.socket.display();
    let server = Server::new(&options.socket, config, screen::from_environment())
        .map_err(|errno| Error::Input(format!("{path}: no socket can be made there: {}", errno.desc())))?;
    // For whoever waits for it to be there.
    output::print(&format!("serving a simulated VideoCore IV at {path}\n"))?;
    let errno = server.run();
    Err(Error::Input(format!("{path}: {}", errno.desc())))
}
