//! Names for BOs and bus addresses.

use std::collections::BTreeMap;

use vc4_sim::profile::Profile;

/// A BO by its key, and by the name that the program gave it.
pub fn title(names: &BTreeMap<u32, String>, key: u32) -> String {
    match names.get(&key).filter(|name| !name.is_empty()) {
        Some(name) => format!("BO {key} \"{name}\""),
        None => format!("BO {key}"),
    }
}

/// The BOs of a job by their bus addresses.
pub struct Places<'a> {
    bos: &'a [(u32, u32)],
    titles: Vec<String>,
}

impl<'a> Places<'a> {
    /// `titles` are those of the submission's BOs, in its order.
    pub fn new(profile: &'a Profile, titles: Vec<String>) -> Places<'a> {
        Places { bos: &profile.bos, titles }
    }

    /// The BO that holds an address.
    pub fn name(&self, address: u32) -> Option<String> {
        let holds = |&(start, bytes): &(u32, u32)| address.checked_sub(start).is_some_and(|at| at < bytes);
        let place = self.bos.iter().position(holds)?;
        let title = self.titles.get(place)?;
        Some(match address - self.bos[place].0 {
            0 => title.clone(),
            offset => format!("{title} + {offset:#x}"),
        })
    }

    /// The same, or the address where no BO is.
    pub fn show(&self, address: u32) -> String {
        self.name(address).unwrap_or_else(|| format!("{address:#010x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_names_inside_of_bos() {
        let profile = Profile { bos: vec![(0x1000, 0x1000), (0x4000, 0x2000)], ..Profile::default() };
        let names = BTreeMap::from([(9, "sky".into()), (7, String::new())]);
        let places = Places::new(&profile, [7, 9].map(|key| title(&names, key)).into());
        assert_eq!(places.show(0x1000), "BO 7");
        assert_eq!(places.show(0x5fff), "BO 9 \"sky\" + 0x1fff");
        assert_eq!(places.show(0x6000), "0x00006000");
        assert_eq!(places.name(0x2000), None);
    }
}
