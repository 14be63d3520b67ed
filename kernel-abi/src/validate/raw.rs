//! Packet fields by position: the kernel copies and compares bits without asking what they mean, so reserved
//! codes must pass through here. Positions come from the packet table.

use vc4::cl::Packet;
use vc4::cl::packets::FieldInfo;

/// The bits of one packet field.
#[derive(Clone, Copy)]
pub struct RawField {
    bit: u32,
    width: u32,
}

impl RawField {
    /// The field called `name`; an unknown name does not compile in a `const`.
    pub const fn of(fields: &[FieldInfo], name: &str) -> RawField {
        let mut i = 0;
        while i < fields.len() {
            if same(fields[i].name, name) {
                return RawField { bit: fields[i].bit, width: fields[i].width };
            }
            i += 1;
        }
        panic!("the packet lacks this field")
    }

    /// Extracts the field.
    pub fn get(self, payload: u128) -> u32 {
        ((payload >> self.bit) & ((1 << self.width) - 1)) as u32
    }

    /// `value` at the field's place; bits beyond its width reach into the next fields.
    pub fn put(self, value: u32) -> u128 {
        u128::from(value) << self.bit
    }

    /// `payload` with the field replaced.
    pub fn set(self, payload: u128, value: u32) -> u128 {
        payload & !(((1 << self.width) - 1) << self.bit) | self.put(value)
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Appends a packet with these payload bits.
pub fn push<P: Packet>(list: &mut Vec<u8>, payload: u128) {
    list.push(P::OPCODE);
    list.extend_from_slice(&payload.to_le_bytes()[..P::SIZE - 1]);
}

/// The payload of the packet that `bytes` begin with; missing bytes are zero.
pub fn payload<P: Packet>(bytes: &[u8]) -> u128 {
    let mut payload = [0; 16];
    for (to, from) in payload[..P::SIZE - 1].iter_mut().zip(bytes.iter().skip(1)) {
        *to = *from;
    }
    u128::from_le_bytes(payload)
}
