use super::{
    presets::MODEL_OUTPUT,
    settings::{CallIds, Dialect, LateSystem, ToolOnlyContent},
};
use crate::wire::{ErrorDetail, RefusedRole};

impl Dialect {
    /// The dialect to go on with after a server refused the form of a request; none where there is no other form to try.
    ///
    /// A refused place of a message leads to the merged form and, where that is refused too, to one without any system
    /// message; a refused role to one without it, refused `content: null` to an empty string and then to no content, a
    /// refused call id to nine letters or digits, and a refused field to messages without it.
    pub fn after_refusal(&self, refusal: ErrorDetail) -> Option<Dialect> {
        let next = match refusal {
            ErrorDetail::Placement(role) => {
                let merged = self.clone().with_late_system(LateSystem::Merge).with_developer_role(false);
                let next = match role {
                    RefusedRole::User | RefusedRole::Unknown => merged.with_alternate(true),
                    _ => merged,
                };
                // no late one is left: it is the one at the start
                let none_left = next == *self && matches!(role, RefusedRole::System | RefusedRole::Unknown);
                if none_left { next.with_system_role(false) } else { next }
            }
            ErrorDetail::NullContent => self.clone().with_tool_only_content(match self.tool_only_content {
                ToolOnlyContent::AsReceived | ToolOnlyContent::Null => ToolOnlyContent::Empty,
                ToolOnlyContent::Empty | ToolOnlyContent::Absent => ToolOnlyContent::Absent,
            }),
            ErrorDetail::EmptyContent => match self.tool_only_content {
                ToolOnlyContent::AsReceived => self.clone().with_tool_only_content(ToolOnlyContent::Null),
                _ => self.clone().with_tool_only_content(ToolOnlyContent::Absent),
            },
            ErrorDetail::CallId => self.clone().with_call_ids(CallIds::NineAlphanumeric),
            ErrorDetail::MessageField(field) => {
                // a server that refuses one thing that only models write refuses the others too
                let more: &[&str] = if MODEL_OUTPUT.contains(&field) { &MODEL_OUTPUT } else { &[field] };
                let mut fields = self.dropped_fields.clone();
                fields.extend(more.iter().filter(|field| !self.drops(field)).map(|field| (*field).to_owned()));
                self.clone().with_dropped_fields(fields)
            }
            ErrorDetail::StreamOptions => self.clone().with_stream_usage(false),
            _ => return None,
        };
        (next != *self).then_some(next)
    }

    fn drops(&self, field: &str) -> bool {
        self.dropped_fields.iter().any(|dropped| dropped == field)
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
            ErrorDetail::EmptyContent,
            ErrorDetail::CallId,
            ErrorDetail::MessageField("reasoning"),
            ErrorDetail::MessageField("name"),
            ErrorDetail::StreamOptions,
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
        let none = next.after_refusal(ErrorDetail::Placement(RefusedRole::System)).unwrap();
        assert_eq!((none.late_system, none.system_role), (LateSystem::Merge, false));
        assert_eq!(none.after_refusal(ErrorDetail::Placement(RefusedRole::System)), None);
    }

    #[test]
    fn refused_fields_are_dropped_from_then_on() {
        let portable = Dialect::default();
        let next = portable.after_refusal(ErrorDetail::MessageField("reasoning_content")).unwrap();
        assert!(next.drops("reasoning_content") && next.drops("annotations") && !next.drops("name"));
        let next = next.after_refusal(ErrorDetail::MessageField("name")).unwrap();
        assert!(next.drops("reasoning_content") && next.drops("name"));
        let mistral = portable.after_refusal(ErrorDetail::CallId).unwrap();
        assert_eq!(mistral.call_ids, CallIds::NineAlphanumeric);
    }

    #[test]
    fn content_is_swapped_whichever_form_is_refused() {
        let null = Dialect::default().after_refusal(ErrorDetail::EmptyContent).unwrap();
        assert_eq!(null.tool_only_content, ToolOnlyContent::Null);
        let empty = null.after_refusal(ErrorDetail::NullContent).unwrap();
        assert_eq!(empty.tool_only_content, ToolOnlyContent::Empty);
        let absent = empty.after_refusal(ErrorDetail::EmptyContent).unwrap();
        assert_eq!(absent.tool_only_content, ToolOnlyContent::Absent);
        assert_eq!(absent.after_refusal(ErrorDetail::NullContent), None);
    }
}
