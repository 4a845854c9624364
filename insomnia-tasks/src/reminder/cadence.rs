use std::num::NonZeroU32;

/// How many idle requests pass before a reminder, and before the next one. Both are at least 1; 8 and 8 by default.
/// A request counts once it is answered. The [guide](crate::guide::reminders) says how to tune them.
///
/// ```
/// use insomnia_tasks::reminder::Cadence;
///
/// let cadence = Cadence::new(4, 12)?;
/// assert_eq!((cadence.inactivity(), cadence.cooldown()), (4, 12));
/// assert!(Cadence::new(0, 12).is_err());
/// # Ok::<(), insomnia_tasks::reminder::CadenceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cadence {
    inactivity: NonZeroU32,
    cooldown: NonZeroU32,
}

impl Cadence {
    /// A reminder after `inactivity` requests without a TaskCreate or TaskUpdate, and not again for `cooldown` requests.
    ///
    /// # Errors
    /// If one of them is 0.
    pub fn new(inactivity: u32, cooldown: u32) -> Result<Self, CadenceError> {
        Ok(Self {
            inactivity: NonZeroU32::new(inactivity).ok_or(CadenceError::Inactivity)?,
            cooldown: NonZeroU32::new(cooldown).ok_or(CadenceError::Cooldown)?,
        })
    }

    /// Requests without a TaskCreate or TaskUpdate before a reminder.
    pub fn inactivity(self) -> u32 {
        self.inactivity.get()
    }

    /// Requests between two reminders.
    pub fn cooldown(self) -> u32 {
        self.cooldown.get()
    }
}

impl Default for Cadence {
    fn default() -> Self {
        const EIGHT: NonZeroU32 = NonZeroU32::MIN.saturating_add(7);
        Self { inactivity: EIGHT, cooldown: EIGHT }
    }
}

/// A cadence that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CadenceError {
    /// Inactivity is 0.
    #[error("the inactivity before a reminder must be at least 1 request; pause the reminders to have none")]
    Inactivity,
    /// Cooldown is 0.
    #[error("the cooldown between reminders must be at least 1 request; pause the reminders to have none")]
    Cooldown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_refused() {
        assert_eq!(Cadence::new(0, 8), Err(CadenceError::Inactivity));
        assert_eq!(Cadence::new(8, 0), Err(CadenceError::Cooldown));
        assert_eq!(Cadence::new(8, 8), Ok(Cadence::default()));
    }
}
