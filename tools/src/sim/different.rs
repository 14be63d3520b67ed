//! What a GPU drew otherwise than the simulator.

use vc4::facts::Facts;
use vc4_sim::capture::attachments::{Attachment, Picture as Pixels};
use vc4_sim::capture::read::Capture;
use vc4_sim::replay::DeviceReplay;

use super::pictures::Pictures;
use crate::differences::{Place, Suspects};
use crate::jobs::picture::Picture;
use crate::output::Error;

/// Surfaces that are thought about: later ones differ because they build on those.
const EXPLAINED: usize = 4;

/// What was found so far.
#[derive(Default)]
pub struct Different {
    suspects: Suspects,
    explained: usize,
}

impl Different {
    /// The surfaces that a submission left otherwise: where, why and from which instruction on, a line each; saves them as they
    /// must be, and where they are not so, if there are `pictures`.
    pub fn submission(
        &mut self,
        capture: &Capture,
        number: usize,
        device: &DeviceReplay<'_>,
        pictures: Option<&Pictures>,
    ) -> Result<String, Error> {
        let (entry, mut out) = (&capture.entries[number], String::new());
        for attachment in Attachment::stored_by(&entry.submission.submit) {
            if self.explained == EXPLAINED {
                break;
            }
            let Some(bo) = entry.bos.get(attachment.bo) else { continue };
            let place = Place { capture, number, bo: bo.key, attachment: &attachment };
            let seen = device.contents(bo.key, attachment.offset, attachment.bytes());
            let (Some(seen), Some(expected)) = (seen, place.bytes(Facts::default())) else { continue };
            let picture = |bytes: &[u8]| Picture {
                width: attachment.width,
                height: attachment.height,
                words: attachment.words(bytes),
            };
            let (seen, must) = (picture(&seen), picture(&expected));
            let Err(why) = seen.compare(&must, 0) else { continue };
            self.explained += 1;
            let rests = self.suspects.of(&place, &must, &seen);
            out += &format!("{number:>6}  {}: {why}{rests}\n", attachment.name);
            if let Some(pictures) = pictures {
                pictures.save(number, &attachment, "-expected", &expected)?;
                let white = seen.difference(&must).words.iter().map(|word| *word as u8).collect();
                let name = format!("{}-different", attachment.name);
                pictures.write(number, &attachment, &name, &Pixels::Grey(white))?;
            }
        }
        Ok(out)
    }
}
