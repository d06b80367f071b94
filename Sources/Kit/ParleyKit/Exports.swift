// `import ParleyKit` alone makes visible what the kit's API names: `ID`, `Message`, `Conversation`, `JSONValue`. Members need
// the export of each module where `MemberImportVisibility` is enabled.

@_exported public import ParleyJSON
@_exported public import ParleyMarkup
@_exported public import ParleyModel
