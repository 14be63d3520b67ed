//! What is measured and not chosen: how fast the machine is, in a table of its own.

/// A row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberRow {
    /// A stable name, for files.
    pub name: &'static str,
    /// What it counts.
    pub unit: &'static str,
    /// What is used where nothing was measured; `None` where nothing uses it yet.
    pub assumed: Option<f64>,
    /// What it is.
    pub text: &'static str,
    /// Who uses it.
    pub users: &'static str,
}

macro_rules! numbers {
    ($( $Number:ident = $name:literal, $unit:literal, $assumed:expr, $text:literal, $users:literal; )+) => {
        /// What is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Number {
            $( #[doc = $text] $Number, )+
        }

        impl Number {
            /// All of them, as they stand in the table.
            pub const ALL: &[Number] = &[$( Number::$Number ),+];
        }

        /// The table, in the order of [`Number`].
        pub const NUMBERS: &[NumberRow] = &[
            $( NumberRow { name: $name, unit: $unit, assumed: $assumed, text: $text, users: $users }, )+
        ];
    };
}

numbers! {
    Submit = "submit", "s", None, "A small job's system call.", "nothing yet";
    Job = "job", "s", Some(200e-6), "A small job, from its system call to its end.", "who runs a kernel that could be drawn; which copies are drawn";
    Interrupt = "interrupt", "s", None, "From a job's last store to the return of the call that waits for it.", "nothing yet";
    BoRead = "bo-read", "B/s", None, "The CPU reads a mapped BO.", "which copies are drawn; times of traffic";
    BoWrite = "bo-write", "B/s", None, "The CPU writes a mapped BO.", "times of traffic";
    CachedRead = "cached-read", "B/s", None, "The CPU reads a BO that it caches, larger than its caches.", "nothing yet";
    CachedWrite = "cached-write", "B/s", None, "The CPU writes a BO that it caches.", "nothing yet";
    TileStore = "tile-store", "B/s", Some(2e9), "Tiles are cleared and stored.", "`vc4 sim price`";
    TileLoad = "tile-load", "B/s", Some(2e9), "Tiles are loaded, beyond what storing them takes.", "`vc4 sim price`";
    DarkTileStore = "dark-tile-store", "B/s", None, "Tiles are cleared and stored while no display reads memory.", "nothing yet";
    DarkTileLoad = "dark-tile-load", "B/s", None, "Tiles are loaded while no display reads memory.", "nothing yet";
    DarkBoRead = "dark-bo-read", "B/s", None, "The CPU reads a mapped BO while no display reads memory.", "nothing yet";
    CoreClock = "core-clock", "Hz", Some(250e6), "Clocks of the GPU, four to an instruction of each of twelve QPUs.", "who runs a kernel that could be drawn";
    Triangles = "triangles", "/s", Some(25e6), "Triangles of a pixel, through vertex programs, binner and rasteriser.", "`vc4 sim price`";
    Quad = "quad", "clocks", Some(1.0), "A quad of four pixels takes the rasteriser.", "counters of the simulator";
    TmuHit = "tmu-hit", "slots", Some(9.0), "From a lookup to its result, from the cache of the texture unit.", "`vc4 cost`; the scheduler takes the assumed one";
    TmuL2 = "tmu-l2", "slots", Some(12.0), "From a lookup to its result, from the L2 cache.", "counters of the simulator";
    TmuMemory = "tmu-memory", "slots", Some(20.0), "From a lookup to its result where each element's texel is a line of memory of its own.", "counters of the simulator";
    Varyings = "varyings", "/slot", Some(2.0), "Varyings that the interpolator of a slice delivers.", "`vc4 cost`; counters of the simulator";
    Sfu = "sfu", "slots", Some(1.0), "A request keeps the special functions of a slice busy.", "`vc4 cost`; counters of the simulator";
    Vpm = "vpm", "slots", Some(1.0), "A vertex or coordinate program reads a vector of the VPM.", "counters of the simulator";
    UniformRefill = "uniform-refill", "slots", Some(9.0), "From a write of the stream's address to the next uniform, from the cache of uniforms.", "`vc4 cost`; counters of the simulator";
    TileAccess = "tile-access", "slots", Some(1.0), "An access keeps the tile buffer of the chip busy.", "`vc4 cost`; counters of the simulator";
    UniformCache = "uniform-cache", "B", Some(4096.0), "The cache of uniforms of a slice.", "counters of the simulator";
    TextureCache = "texture-cache", "B", Some(4096.0), "The cache of a texture unit.", "counters of the simulator";
    TextureWays = "texture-ways", "lines", Some(1.0), "Lines of a set of the texture unit's cache.", "counters of the simulator";
    L2Cache = "l2-cache", "B", Some(32768.0), "The L2 cache.", "counters of the simulator";
    L2Ways = "l2-ways", "lines", Some(4.0), "Lines of a set of the L2 cache.", "counters of the simulator";
}

impl Number {
    /// Its row.
    pub const fn row(self) -> &'static NumberRow {
        &NUMBERS[self as usize]
    }

    /// What is used where nothing was measured; 0 where nothing is.
    pub const fn assumed(self) -> f64 {
        match self.row().assumed {
            Some(assumed) => assumed,
            None => 0.0,
        }
    }

    /// The number of this name.
    pub fn find(name: &str) -> Option<Number> {
        Number::ALL.iter().copied().find(|number| number.row().name == name)
    }
}

/// What was measured of a machine; what was not is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numbers([Option<f64>; NUMBERS.len()]);

impl Numbers {
    /// What was measured.
    pub fn measured(&self, number: Number) -> Option<f64> {
        self.0[number as usize]
    }

    /// What was measured, or else what is assumed.
    pub fn get(&self, number: Number) -> f64 {
        self.measured(number).unwrap_or(number.assumed())
    }

    /// These numbers and another one. What is no positive number measures nothing.
    #[must_use]
    pub fn with(mut self, number: Number, value: f64) -> Numbers {
        self.0[number as usize] = Some(value).filter(|value| value.is_finite() && *value > 0.0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_assumed_and_said_to_be() {
        let none = Numbers::default();
        for number in Number::ALL {
            let row = number.row();
            assert_eq!((Number::find(row.name), none.measured(*number)), (Some(*number), None));
            assert_eq!(none.get(*number), row.assumed.unwrap_or(0.0));
            let some = none.with(*number, 3.5);
            assert_eq!((some.measured(*number), some.get(*number)), (Some(3.5), 3.5));
            for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                assert_eq!(some.with(*number, nonsense), none);
            }
        }
        assert_eq!(Number::find("tmu"), None);
    }
}
