//! Plain values of the API in the terms of `vc4`.

use ash::vk;
use vc4::cl::packets::CompareFunc;
use vc4::state::Viewport;

use super::error::Error;

/// The API's viewport.
pub fn viewport(viewport: &vk::Viewport) -> Viewport {
    Viewport {
        x: viewport.x,
        y: viewport.y,
        width: viewport.width,
        height: viewport.height,
        min_depth: viewport.min_depth,
        max_depth: viewport.max_depth,
    }
}

/// A comparison.
pub fn compare(op: vk::CompareOp) -> Result<CompareFunc, Error> {
    Ok(match op {
        vk::CompareOp::NEVER => CompareFunc::Never,
        vk::CompareOp::LESS => CompareFunc::Less,
        vk::CompareOp::EQUAL => CompareFunc::Equal,
        vk::CompareOp::LESS_OR_EQUAL => CompareFunc::LessOrEqual,
        vk::CompareOp::GREATER => CompareFunc::Greater,
        vk::CompareOp::NOT_EQUAL => CompareFunc::NotEqual,
        vk::CompareOp::GREATER_OR_EQUAL => CompareFunc::GreaterOrEqual,
        vk::CompareOp::ALWAYS => CompareFunc::Always,
        _ => return Err(Error::InvalidUse(format!("comparison {op:?}"))),
    })
}
