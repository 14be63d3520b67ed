//! Numbers, strings and lists in payloads.

/// The end of a payload came early, or something in it makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

/// Appends to a payload.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn u128(&mut self, value: u128) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
    }

    pub fn list<T>(&mut self, items: &[T], mut put: impl FnMut(&mut Writer, &T)) {
        self.u32(items.len() as u32);
        items.iter().for_each(|item| put(self, item));
    }
}

/// Takes from a payload, front to back.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(payload: &'a [u8]) -> Reader<'a> {
        Reader { rest: payload }
    }

    pub fn take(&mut self, size: usize) -> Result<&'a [u8], Malformed> {
        let Some((head, rest)) = self.rest.split_at_checked(size) else {
            return Err(Malformed(format!("{size} bytes are wanted, {} are left", self.rest.len())));
        };
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn u128(&mut self) -> Result<u128, Malformed> {
        self.array().map(u128::from_le_bytes)
    }

    pub fn flag(&mut self, what: &str) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Malformed(format!("{what} is {other}, not 0 or 1"))),
        }
    }

    pub fn bytes(&mut self) -> Result<Vec<u8>, Malformed> {
        let size = self.u32()?;
        self.take(size as usize).map(<[u8]>::to_vec)
    }

    pub fn text(&mut self) -> Result<String, Malformed> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    /// A list whose items take at least `smallest` bytes each, so that a wrong count fails before memory is taken.
    pub fn list<T>(
        &mut self,
        smallest: usize,
        mut item: impl FnMut(&mut Reader<'a>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.u32()? as usize;
        if count > self.rest.len() / smallest.max(1) {
            return Err(Malformed(format!("{count} items do not fit the {} bytes left", self.rest.len())));
        }
        (0..count).map(|_| item(self)).collect()
    }

    pub fn finish(&self) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(Malformed(format!("{left} bytes are left behind its end"))),
        }
    }
}
