//! Names for bus addresses.

use vc4_sim::profile::Profile;

/// The BOs of a job by their bus addresses.
pub struct Places<'a> {
    bos: &'a [(u32, u32)],
    keys: Vec<u32>,
}

impl<'a> Places<'a> {
    /// `keys` are the BOs of the submission, in its order.
    pub fn new(profile: &'a Profile, keys: Vec<u32>) -> Places<'a> {
        Places { bos: &profile.bos, keys }
    }

    /// The BO that holds an address.
    pub fn name(&self, address: u32) -> Option<String> {
        let holds = |&(start, bytes): &(u32, u32)| address.checked_sub(start).is_some_and(|at| at < bytes);
        let place = self.bos.iter().position(holds)?;
        let key = self.keys.get(place)?;
        Some(match address - self.bos[place].0 {
            0 => format!("BO {key}"),
            offset => format!("BO {key} + {offset:#x}"),
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
        let places = Places::new(&profile, vec![7, 9]);
        assert_eq!(places.show(0x1000), "BO 7");
        assert_eq!(places.show(0x5fff), "BO 9 + 0x1fff");
        assert_eq!(places.show(0x6000), "0x00006000");
        assert_eq!(places.name(0x2000), None);
    }
}
