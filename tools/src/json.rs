//! JSON out: values and their text. There is no reading, and numbers are whole or finite, so this is all of it.

use std::fmt::{self, Display, Formatter, Write};

/// A JSON value; objects keep the order of their fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    String(String),
    Array(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
}

impl Value {
    /// An object from its fields.
    pub fn object(fields: impl Into<Vec<(&'static str, Value)>>) -> Value {
        Value::Object(fields.into())
    }

    /// Text from bytes, those that are no UTF-8 replaced.
    pub fn text(bytes: &[u8]) -> Value {
        Value::String(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Bytes as hexadecimal text.
    pub fn hex(bytes: &[u8]) -> Value {
        Value::String(hex(bytes))
    }
}

/// Bytes as hexadecimal text.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// JSON that can stand inside of an HTML script element: it holds neither tags nor the end of the element.
pub fn inside_html(json: &str) -> String {
    // These characters only occur in strings.
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

macro_rules! from {
    ($($type:ty => $variant:ident as $wide:ty),*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$variant(value as $wide)
            }
        })*
    };
}

from!(u8 => Unsigned as u64, u16 => Unsigned as u64, u32 => Unsigned as u64, u64 => Unsigned as u64,
      usize => Unsigned as u64, i32 => Signed as i64, f32 => Float as f64, f64 => Float as f64, bool => Bool as bool);

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Value {
        Value::Array(items.into_iter().map(Into::into).collect())
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Unsigned(value) => write!(f, "{value}"),
            Value::Signed(value) => write!(f, "{value}"),
            Value::Float(value) if value.is_finite() => write!(f, "{value}"),
            // JSON has no word for these.
            Value::Float(value) => write!(f, "\"{value}\""),
            Value::String(text) => string(f, text),
            Value::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Value::Object(fields) => {
                f.write_char('{')?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}\"{name}\":{value}", if index == 0 { "" } else { "," })?;
                }
                f.write_char('}')
            }
        }
    }
}

fn string(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c < ' ' || c == '\u{7F}' => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_order_kept() {
        let value = Value::object([
            ("b", Value::from("a\"\\\n\u{1}é")),
            ("a", [1u8, 2].into_iter().collect()),
            ("n", Value::from(None::<u8>)),
            ("f", Value::Float(f64::NEG_INFINITY)),
        ]);
        assert_eq!(value.to_string(), r#"{"b":"a\"\\\n\u0001é","a":[1,2],"n":null,"f":"-inf"}"#);
    }

    #[test]
    fn nothing_ends_a_script() {
        assert_eq!(inside_html(r#""</script><!--&""#), r#""\u003c/script\u003e\u003c!--\u0026""#);
    }
}
