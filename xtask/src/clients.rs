//! Programs of others, unmodified, through the Vulkan loader: each must end well and, where it draws, leave a picture. Those of
//! [`compared`] leave it in a file.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::display::{Compositor, Display};
use crate::vkcube::Capture;
use crate::{Error, build, compared, packages};

#[derive(clap::Args)]
pub struct Options {
    /// Save the last frame of each program as PNG in this directory.
    #[arg(long, value_name = "DIRECTORY")]
    pictures: Option<PathBuf>,
    /// Run these only.
    #[arg(value_name = "PROGRAM")]
    names: Vec<String>,
    /// Frames of programs that count them.
    #[arg(long, default_value_t = 60)]
    frames: u32,
}

/// Who shows a program's pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// An X server.
    X,
    /// A Wayland compositor that takes shared memory.
    Wayland,
    /// A Wayland compositor that takes images as they are.
    Images,
}

/// All of them.
pub struct Screens {
    x: Display,
    wayland: Compositor,
    images: Compositor,
}

impl Screens {
    pub fn private() -> Result<Screens, Error> {
        let (x, wayland) = (Display::private()?, Compositor::weston()?);
        Ok(Screens { x, wayland, images: Compositor::of_images()? })
    }
}

/// Makes the program that is to lie there.
type Make = fn(program: &Path) -> Result<(), Error>;

/// A program.
pub struct Client {
    pub name: &'static str,
    /// Where it is, if not in PATH.
    pub program: &'static str,
    arguments: &'static [&'static str],
    /// What it needs in its environment besides the driver.
    pub environment: &'static [(&'static str, &'static str)],
    /// The argument before the number of frames; without one the program runs until it is told to end.
    pub frames: Option<&'static str>,
    /// Whether it presents.
    pub draws: bool,
    /// Where to.
    screen: Screen,
    /// Debian's packages of it.
    packages: &'static [&'static str],
    /// Makes the program, if Debian has its source only.
    make: Option<Make>,
    /// How long it may draw, if it counts no frames.
    seconds: u64,
    /// Where it checks its own pictures: what it prints of one that is right, and of one that is wrong.
    verdicts: Option<[&'static str; 2]>,
    /// Whether it is run only when it is named: it is large.
    named: bool,
}

/// What most programs are.
const CLIENT: Client = Client {
    name: "",
    program: "",
    arguments: &[],
    environment: &[],
    frames: None,
    draws: true,
    screen: Screen::X,
    packages: &[],
    make: None,
    seconds: 5,
    verdicts: None,
    named: false,
};

/// SuperTuxKart begins a race by itself.
const RACE: &[&str] = &[
    "--render-driver=vulkan",
    "--race-now",
    "--track=lighthouse",
    "--numkarts=3",
    "--laps=1",
    "--windowed",
    "--screensize=640x480",
];

/// OpenArena's first room in a window, as many frames as there can be: the engine takes an argument for each word.
macro_rules! first_room {
    ($renderer:literal) => {
        &[
            "+set",
            "r_fullscreen",
            "0",
            "+set",
            "r_mode",
            "-1",
            "+set",
            "r_customwidth",
            "640",
            "+set",
            "r_customheight",
            "480",
            "+set",
            "s_initsound",
            "0",
            "+set",
            "com_introplayed",
            "1",
            "+set",
            "com_maxfps",
            "0",
            "+set",
            "cl_renderer",
            $renderer,
            "+devmap",
            "oa_dm1",
        ]
    };
}
const FIRST_ROOM: &[&str] = first_room!("opengl2");
const FIRST_ROOM_OPENGL1: &[&str] = first_room!("opengl1");

/// The engine of Quake III on zink.
const OPENARENA: Client = Client {
    name: "openarena",
    program: "/usr/games/openarena",
    arguments: FIRST_ROOM,
    environment: &[
        ("MESA_LOADER_DRIVER_OVERRIDE", "zink"),
        ("VC4VK_DEBUG", "gpu"),
        ("SDL_AUDIODRIVER", "dummy"),
    ],
    packages: &["openarena", "libgl1-mesa-dri"],
    seconds: 60,
    named: true,
    ..CLIENT
};

pub const CLIENTS: &[Client] = &[
    Client { name: "vulkaninfo", program: "vulkaninfo", draws: false, ..CLIENT },
    // OpenGL by Mesa's zink, which leaves out devices that call themselves CPUs.
    Client {
        name: "glxinfo",
        program: "glxinfo",
        arguments: &["-B"],
        environment: &[("MESA_LOADER_DRIVER_OVERRIDE", "zink"), ("VC4VK_DEBUG", "gpu")],
        draws: false,
        packages: &["mesa-utils", "libgl1-mesa-dri"],
        ..CLIENT
    },
    Client {
        name: "vkcube",
        program: "vkcube",
        arguments: &["--suppress_popups", "--present_mode", "0"],
        frames: Some("--c"),
        ..CLIENT
    },
    Client {
        name: "vkcubepp",
        program: "vkcubepp",
        arguments: &["--suppress_popups", "--present_mode", "0"],
        frames: Some("--c"),
        ..CLIENT
    },
    Client {
        name: "vkcube-wayland",
        program: "vkcube-wayland",
        arguments: &["--suppress_popups"],
        frames: Some("--c"),
        screen: Screen::Wayland,
        ..CLIENT
    },
    Client {
        name: "vkcube-images",
        program: "vkcube-wayland",
        arguments: &["--suppress_popups"],
        frames: Some("--c"),
        screen: Screen::Images,
        ..CLIENT
    },
    Client {
        name: "testvulkan",
        program: "/usr/libexec/installed-tests/SDL2/testvulkan",
        packages: &["libsdl2-tests"],
        ..CLIENT
    },
    Client {
        name: "testvulkan-images",
        program: "/usr/libexec/installed-tests/SDL2/testvulkan",
        environment: &[("SDL_VIDEODRIVER", "wayland")],
        packages: &["libsdl2-tests"],
        screen: Screen::Images,
        ..CLIENT
    },
    Client {
        name: "qml",
        program: compared::QML,
        arguments: &[compared::QT_SCENE],
        environment: compared::QT_ENVIRONMENT,
        frames: Some("--"),
        packages: compared::QT,
        ..CLIENT
    },
    Client {
        name: "qml-images",
        program: compared::QML,
        arguments: &[compared::QT_SCENE],
        // By a thread of its own Debian 12's Qt draws to surfaces that it has destroyed, when it ends.
        environment: &[
            ("QSG_RHI_BACKEND", "vulkan"),
            ("QT_QPA_PLATFORM", "wayland"),
            ("QSG_RENDER_LOOP", "basic"),
        ],
        frames: Some("--"),
        packages: compared::QT,
        screen: Screen::Images,
        ..CLIENT
    },
    Client {
        name: "imgui-window",
        program: "vc4-imgui-window",
        packages: compared::IMGUI_WINDOW,
        make: Some(compared::imgui_window),
        ..CLIENT
    },
    Client {
        name: "imgui-window-images",
        program: "vc4-imgui-window",
        environment: &[("SDL_VIDEODRIVER", "wayland")],
        packages: compared::IMGUI_WINDOW,
        make: Some(compared::imgui_window),
        screen: Screen::Images,
        ..CLIENT
    },
    // By libplacebo, which leaves out devices that call themselves CPUs. The clip is one that FFmpeg makes.
    Client {
        name: "mpv",
        program: "mpv",
        arguments: &[
            "--no-config",
            "--really-quiet",
            "--vo=gpu",
            "--gpu-api=vulkan",
            "--gpu-context=x11vk",
            "--ao=null",
            "av://lavfi:testsrc2=size=320x240:rate=5:duration=2",
        ],
        environment: &[("VC4VK_DEBUG", "gpu")],
        packages: &["mpv"],
        seconds: 60,
        ..CLIENT
    },
    Client {
        name: "glmark2",
        program: "glmark2",
        arguments: &["--validate"],
        environment: &[("MESA_LOADER_DRIVER_OVERRIDE", "zink"), ("VC4VK_DEBUG", "gpu")],
        // It presents none of them.
        draws: false,
        packages: &["glmark2-x11", "libgl1-mesa-dri"],
        verdicts: Some(["Validation: Success", "Validation: Failure"]),
        ..CLIENT
    },
    // Seven hundred megabytes.
    Client {
        name: "supertuxkart",
        program: "/usr/games/supertuxkart",
        arguments: RACE,
        environment: &[("SDL_AUDIODRIVER", "dummy"), ("ALSOFT_DRIVERS", "null")],
        packages: &["supertuxkart"],
        seconds: 120,
        named: true,
        ..CLIENT
    },
    Client {
        name: "supertuxkart-images",
        program: "/usr/games/supertuxkart",
        arguments: RACE,
        environment: &[
            ("SDL_VIDEODRIVER", "wayland"),
            ("SDL_AUDIODRIVER", "dummy"),
            ("ALSOFT_DRIVERS", "null"),
        ],
        packages: &["supertuxkart"],
        seconds: 120,
        screen: Screen::Images,
        named: true,
        ..CLIENT
    },
    // Until it is closed; its picture is that of `compared`.
    Client {
        name: "egui-window",
        program: "vc4-egui-window",
        make: Some(compared::egui_window),
        named: true,
        ..CLIENT
    },
    // The engine of Quake III, by its own renderer and by the one that asks for more.
    Client { name: "openarena-opengl1", arguments: FIRST_ROOM_OPENGL1, ..OPENARENA },
    OPENARENA,
];

impl Client {
    /// Whether it runs until it is told to end.
    fn endless(&self) -> bool {
        self.draws && self.frames.is_none()
    }

    /// Whether it is run where these are named, or none.
    fn wanted(&self, names: &[String]) -> bool {
        if names.is_empty() { !self.named } else { names.iter().any(|name| name == self.name) }
    }

    /// Where it is made.
    fn made(&self) -> Result<PathBuf, Error> {
        Ok(compared::directory()?.join(self.program))
    }

    /// How long it may run, or draw.
    pub fn limit(&self) -> Duration {
        if self.endless() { Duration::from_secs(self.seconds) } else { TOO_LONG }
    }

    /// The program on this driver.
    pub fn command(&self, manifest: &Path, screens: &Screens, frames: u32) -> Result<Command, Error> {
        // Games leave settings.
        let home = build::target_directory()?.join("clients/home");
        std::fs::create_dir_all(&home)?;
        let mut command = match self.make {
            None => Command::new(self.program),
            Some(_) => Command::new(self.made()?),
        };
        command
            .args(self.arguments)
            // Scenes are ours; others leave settings where they are.
            .current_dir(if self.make.is_none() { build::workspace() } else { &home })
            .env("HOME", &home)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .envs(self.environment.iter().copied())
            .env("VK_DRIVER_FILES", manifest)
            .env("VK_ICD_FILENAMES", manifest)
            .stdout(if self.verdicts.is_some() { Stdio::piped() } else { Stdio::null() });
        match self.screen {
            Screen::X => command.env("DISPLAY", &screens.x.name),
            Screen::Wayland => screens.wayland.offer_to(&mut command),
            Screen::Images => screens.images.offer_to(&mut command),
        };
        if let Some(argument) = self.frames {
            command.args([argument, &frames.to_string()]);
        }
        Ok(command)
    }
}

/// How long such a program may take to end once it was asked to.
const PATIENCE: Duration = Duration::from_secs(20);
/// When a program is given up.
const TOO_LONG: Duration = Duration::from_secs(300);

/// Of the programs that `may` be run those that are named, or all but those that are only run by name.
///
/// # Errors
/// A name that none of them has.
pub fn named(names: &[String], may: impl Fn(&Client) -> bool) -> Result<Vec<&'static Client>, Error> {
    let all: Vec<&Client> = CLIENTS.iter().filter(|client| may(client)).collect();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|client| client.name != name.as_str())) {
        let known: Vec<&str> = all.iter().map(|client| client.name).collect();
        return Err(format!("no program has the name {unknown}; there are {}", known.join(", ")).into());
    }
    Ok(all.into_iter().filter(|client| client.wanted(names)).collect())
}

pub fn run(options: &Options, install: bool) -> Result<(), Error> {
    let clients = named(&options.names, |_| true)?;
    require(&clients, install)?;
    let manifest = build::driver()?;
    let mut screens = Screens::private()?;
    if let Some(directory) = &options.pictures {
        std::fs::create_dir_all(directory)?;
    }
    let mut failed = Vec::new();
    for client in clients {
        let capture = Capture::new()?;
        let mut command = client.command(&manifest, &screens, options.frames)?;
        command.env("VC4VK_CAPTURE", capture.directory());
        let ended = one(client, command, &capture).and_then(|line| match client.screen {
            Screen::Images => images(&mut screens.images, &capture).map(|said| format!("{line}, {said}")),
            _ => Ok(line),
        });
        match ended {
            Ok(line) => println!("{:19} {line}", client.name),
            Err(error) => {
                println!("{:19} FAILED: {error}", client.name);
                failed.push(client.name);
            }
        }
        if let (Some(directory), true) = (&options.pictures, client.draws) {
            let png = directory.join(format!("{}.png", client.name));
            capture.save_png(&png).map_err(|error| format!("{}: {error}", client.name))?;
        }
    }
    for program in &compared::ALL {
        if !options.names.is_empty() && !options.names.iter().any(|name| name == program.name) {
            continue;
        }
        match program.run(&manifest, &screens.x, options.pictures.as_deref(), install) {
            Ok(line) => println!("{:19} {line}", program.name),
            Err(error) => {
                println!("{:19} FAILED: {error}", program.name);
                failed.push(program.name);
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("{} failed", failed.join(", ")).into()) }
}

/// Compares what a compositor saw of a program's images with what the driver says that it showed.
fn images(compositor: &mut Compositor, capture: &Capture) -> Result<String, Error> {
    let (count, last) = compositor.seen()?;
    match capture.last()? == last {
        true => Ok(format!("{count} seen as they are")),
        false => Err("the compositor saw another picture than was presented".into()),
    }
}

/// The packages of some programs, and those that have to be made.
pub fn require(clients: &[&Client], install: bool) -> Result<(), Error> {
    packages::require(packages::RUN, install)?;
    packages::require(&["weston"], install)?;
    clients.iter().try_for_each(|client| {
        packages::require(client.packages, install)?;
        client.make.map_or(Ok(()), |make| make(&client.made()?))
    })
}

/// Runs a program; what is to be said about it.
fn one(client: &Client, mut command: Command, capture: &Capture) -> Result<String, Error> {
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", client.program))?;
    // Read while it runs, or it would wait for room in the pipe.
    let said = child.stdout.take().map(|said| std::thread::spawn(move || std::io::read_to_string(said)));
    let status = wait(&mut child, client.limit())?;
    let status = match status {
        Some(status) => status,
        None if client.endless() => {
            if !end(&mut child)? {
                return Err(
                    format!("does not end when asked to, not even in {} s", PATIENCE.as_secs()).into()
                );
            }
            let run = capture.report(None)?;
            return Ok(format!("{} frames in {} s, then ended by us", run.frames, client.seconds));
        }
        None => {
            child.kill()?;
            child.wait()?;
            return Err(format!("not at its end after {} s", TOO_LONG.as_secs()).into());
        }
    };
    if !status.success() {
        return Err(format!("{status}").into());
    }
    if let (Some([right, wrong]), Some(said)) = (client.verdicts, said) {
        let said = said.join().map_err(|_| "its output was not read")??;
        let count = |verdict| said.lines().filter(|line| line.contains(verdict)).count();
        return match (count(right), count(wrong)) {
            (0, 0) => Err(format!("it checked nothing:\n{said}").into()),
            (right, 0) => Ok(format!("{right} pictures are right by its own checks")),
            (_, wrong) => Err(format!("{wrong} pictures are wrong:\n{said}").into()),
        };
    }
    match client.draws {
        true => {
            let run = capture.report(Some(status))?;
            Ok(format!("{} frames, {:.1} per second", run.frames, run.rate()))
        }
        false => Ok("ended well".into()),
    }
}

/// Ends a program; whether it did so when asked to.
pub fn end(child: &mut Child) -> Result<bool, Error> {
    ask_to_end(child)?;
    let ended = wait(child, PATIENCE)?.is_some();
    if !ended {
        child.kill()?;
        child.wait()?;
    }
    Ok(ended)
}

/// SIGTERM: programs take it for a closed window, and end as then. The driver writes its capture on the way.
fn ask_to_end(child: &Child) -> Result<(), Error> {
    let status = Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
    if status.success() { Ok(()) } else { Err(format!("kill: {status}").into()) }
}

/// Waits for a program's end, at most so long.
pub fn wait(child: &mut Child, limit: Duration) -> Result<Option<std::process::ExitStatus>, Error> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
