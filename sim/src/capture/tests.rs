//! What is written comes back; what is damaged is refused and never crashes.

use proptest::prelude::*;

use super::pages::{Hash, PAGE_WORDS, Page, decode, encode};

fn round_trip(page: &Page) -> usize {
    let mut bytes = Vec::new();
    encode(page, &mut bytes);
    assert!(decode(&bytes).is_some_and(|back| *back == *page));
    bytes.len()
}

#[test]
fn pages_come_back_and_flat_ones_are_short() {
    assert_eq!(round_trip(&[7; PAGE_WORDS]), 6);
    let noise: Page = std::array::from_fn(|i| (i as u32).wrapping_mul(0x9e37_79b9));
    assert_eq!(round_trip(&noise), 4096);
    let mixed: Page = std::array::from_fn(|i| if i < 100 { i as u32 } else { 5 });
    assert_eq!(round_trip(&mixed), 2 + 400 + 6);
}

#[test]
fn hashes_see_every_bit_and_the_size() {
    let mut page: Page = [0; PAGE_WORDS];
    let zero = Hash::of(&page);
    let mut seen = vec![zero, Hash::of(&page[..8]), Hash::of(&page[..9])];
    for bit in 0..PAGE_WORDS * 32 {
        page[bit / 32] = 1 << (bit % 32);
        seen.push(Hash::of(&page));
        page[bit / 32] = 0;
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

proptest! {
    #[test]
    fn any_page_comes_back(words in prop::collection::vec(0u32..4, PAGE_WORDS)) {
        round_trip(words.as_slice().try_into().unwrap());
    }

    #[test]
    fn any_bytes_are_a_page_or_none(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
        let _ = decode(&bytes);
    }
}
