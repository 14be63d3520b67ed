//! Writing JSON.

use std::fmt::Display;

use crate::output::json_string;

/// An object under construction.
pub struct Object(String);

impl Object {
    pub fn new() -> Object {
        Object(String::from("{"))
    }

    /// A member that is JSON already, or a number.
    pub fn raw(mut self, name: &str, value: impl Display) -> Object {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&format!("{}:{value}", json_string(name)));
        self
    }

    pub fn text(self, name: &str, value: &str) -> Object {
        self.raw(name, json_string(value))
    }

    pub fn list(self, name: &str, values: impl IntoIterator<Item = impl Display>) -> Object {
        self.raw(name, list(values))
    }

    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A list of values that are JSON already, or numbers.
pub fn list(values: impl IntoIterator<Item = impl Display>) -> String {
    let mut out = String::from("[");
    for value in values {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&value.to_string());
    }
    out.push(']');
    out
}

/// A list of strings.
pub fn texts(values: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    list(values.into_iter().map(|value| json_string(value.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_lists() {
        let object = Object::new().text("a\"", "x\n").raw("b", 1).list("c", [1, 2]).end();
        assert_eq!(object, r#"{"a\"":"x\u000a","b":1,"c":[1,2]}"#);
        assert_eq!(texts(["a", "b"]), r#"["a","b"]"#);
        assert_eq!((Object::new().end(), list([0; 0])), ("{}".into(), "[]".into()));
    }
}
