use super::settings::{Dialect, LateSystem, ToolOnlyContent};
use crate::wire::{ErrorDetail, RefusedRole};

impl Dialect {
    /// The dialect to go on with after a server refused the form of a request; none where there is no other form to try.
    ///
    /// A refused place of a message leads to the merged form, a refused role to one without it, and refused `content: null` to
    /// an empty string and then to no content.
    pub fn after_refusal(&self, refusal: ErrorDetail) -> Option<Dialect> {
        let next = match refusal {
            ErrorDetail::Placement(role) => {
                let merged = self.clone().with_late_system(LateSystem::Merge).with_developer_role(false);
                match role {
                    RefusedRole::User | RefusedRole::Unknown => merged.with_alternate(true),
                    _ => merged,
                }
            }
            ErrorDetail::NullContent => self.clone().with_tool_only_content(match self.tool_only_content {
                ToolOnlyContent::AsReceived | ToolOnlyContent::Null => ToolOnlyContent::Empty,
                ToolOnlyContent::Empty | ToolOnlyContent::Absent => ToolOnlyContent::Absent,
            }),
            _ => return None,
        };
        (next != *self).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_ends_after_a_few_changes() {
        let refusals = [
            ErrorDetail::Placement(RefusedRole::System),
            ErrorDetail::Placement(RefusedRole::Developer),
            ErrorDetail::Placement(RefusedRole::User),
            ErrorDetail::Placement(RefusedRole::Unknown),
            ErrorDetail::NullContent,
            ErrorDetail::ToolsUnsupported,
        ];
        for preset in Dialect::PRESETS {
            for refusal in refusals {
                let mut dialect = Dialect::preset(preset).unwrap();
                let mut changes = 0;
                while let Some(next) = dialect.after_refusal(refusal) {
                    (dialect, changes) = (next, changes + 1);
                    assert!(changes <= 2, "{preset} {refusal:?}");
                }
            }
        }
    }

    #[test]
    fn a_refused_system_message_is_merged_from_then_on() {
        let openai = Dialect::preset("openai").unwrap();
        let next = openai.after_refusal(ErrorDetail::Placement(RefusedRole::System)).unwrap();
        assert_eq!(next.late_system, LateSystem::Merge);
        assert_eq!(next.after_refusal(ErrorDetail::Placement(RefusedRole::System)), None);
    }
}
