//! Captures of Mesa's scenes, which `vc4 doctor` compares GPUs with (`tools/known/mesa`): lists and programs that another driver made
//! of this project's own programs.

use std::io::Write;
use std::path::Path;

use bzip2::Compression;
use bzip2::write::BzEncoder;

use super::guest::{Guest, Server};
use crate::{Error, build, debian};

const ENDING: &str = ".vc4cap.bz2";
/// Set to record again; as for other files that tests compare with. An empty file makes a new one.
pub const VARIABLE: &str = "UPDATE_GOLDEN";

/// Draws a scene on a device, its picture into a directory.
type Draw<'a> = dyn Fn(&Server, &Path, &str) -> Result<(), Error> + 'a;

/// Records each scene that has a file there.
pub fn record(guest: &Guest, place: &Path, draw: &Draw<'_>) -> Result<(), Error> {
    let place = debian::fresh(&place.join("captures"))?;
    for entry in std::fs::read_dir(build::workspace().join("tools/known/mesa"))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(ENDING));
        let name = name.ok_or_else(|| format!("{} is no packed capture", path.display()))?;
        let capture = place.join(name);
        let server = guest.serve(Some(&capture))?;
        draw(&server, &place.join("vc4"), name)?;
        drop(server);
        let mut packed = BzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&std::fs::read(&capture)?)?;
        std::fs::write(&path, packed.finish()?)?;
        println!("Recorded {}", path.display());
    }
    Ok(())
}
