// `import ParleyKit` alone makes the types of the kit's API visible: `ID`, `Message`, `Conversation`, `JSONValue`. Members need
// the export of each module where `MemberImportVisibility` is enabled.

@_exported public import ParleyJSON
@_exported public import ParleyMarkup
@_exported public import ParleyModel
