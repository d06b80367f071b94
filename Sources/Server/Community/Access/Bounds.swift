/// Limits of user content. A request beyond one is refused with the name of the field.
public struct Bounds: Sendable {
  /// Bytes: one file, all files of a guest, of another user, of the site.
  public var fileBytes = 2_147_483_648
  public var guestFileBytes = 104_857_600
  public var userFileBytes = 10_737_418_240
  public var siteFileBytes = 107_374_182_400
  public var fileNameScalars = 255
  /// A file's preview: bytes, and pixels of its longer side.
  public var previewBytes = 204_800
  public var previewSide = 1_280
  /// Bytes of an avatar, forum icon or site icon, and pixels of its longer side. A page shows dozens of them.
  public var pictureBytes = 2_097_152
  public var pictureSide = 4_096
  /// Custom emoji of the site, which every client holds; bytes of one, and pixels of its longer side.
  public var emoji = 200
  public var emojiBytes = 262_144
  public var emojiSide = 512
  /// Pixels of an image. A larger one is a plain file, since each viewer would decode it into gigabytes.
  public var imagePixels = 50_000_000
  /// Resumable uploads in progress, per user.
  public var uploads = 20
  /// Files per list request.
  public var filesPerRequest = 200
  /// Unicode scalars.
  public var messageScalars = 16_000
  /// Mentions, hashtags and links per text, and users mentioned by name.
  public var entities = 500
  public var mentions = 50
  public var attachments = 20
  /// Unicode scalars of the description of an attachment.
  public var pictureDescriptionScalars = 1_000
  /// Later messages returned by a send.
  public var catchUp = 100
  /// Public action types per message, and actions of one user on it.
  public var actionTypes = 50
  public var ownActions = 20
  /// Messages copied into a new topic in one transaction. Larger branches are copied by a job, so that they do not
  /// block other writes.
  public var branch = 200
  /// Read receipts are shown up to this number of participants.
  public var receiptParticipants = 50
  public var displayNameScalars = 64
  public var bioScalars = 1_000
  public var statusScalars = 80
  /// A user's name for a device or token.
  public var labelScalars = 100
  public var reasonScalars = 1_000
  public var siteNameScalars = 64
  public var siteTextScalars = 10_000
  /// Bytes of JSON string content.
  public var clientIDBytes = 64
  public var annotationBytes = 8_192
  public var preferencesBytes = 8_192
  public var titleScalars = 120
  public var descriptionScalars = 2_000
  public var addressScalars = 2_048
  public var passwordBytes = 1_024
  /// Unicode scalars.
  public var minPasswordScalars = 8
  /// Sessions of a user. Beyond it the least recently used is revoked.
  public var sessions = 100
  public var tokens = 100
  /// Forums that a token is limited to.
  public var tokenForums = 50
  /// Devices of a user that receive notifications while the app is closed.
  public var pushSubscriptions = 20
  /// Bots of the site.
  public var bots = 200
  /// Forums that a new bot joins in one transaction.
  public var botForums = 50
  /// Incoming webhooks of the site and of a conversation, and bytes of a request to one.
  public var webhooks = 1_000
  public var conversationWebhooks = 20
  public var webhookBody = 262_144
  /// Unicode scalars of a name that a request to a webhook sets for its message.
  public var webhookNameScalars = 80
  /// Outgoing webhooks of the site and of a user; bytes of a URL, and topics of one.
  public var webhookEndpoints = 200
  public var userWebhookEndpoints = 20
  public var endpointAddressBytes = 2_048
  public var endpointTopics = 20
  /// Slash commands of the site, and forums of one.
  public var commands = 100
  public var commandForums = 50
  /// Milliseconds: before the second attempt to deliver an event, and between later ones. Each failure doubles the time.
  public var webhookRetryDelay: Int64 = 1_000
  public var webhookMaxRetryDelay: Int64 = 3 * 3_600_000
  /// The longest time, in milliseconds, that a server may ask for by `Retry-After`.
  public var webhookMaxRetryAfter: Int64 = 6 * 3_600_000
  /// Milliseconds of failed attempts until a webhook is disabled, and the minimum of attempts, in case the daemon was off.
  public var webhookPatience: Int64 = 3 * 86_400_000
  public var webhookMinFailures = 10
  /// Open invites per user.
  public var invites = 200
  public var inviteUses = 10_000
  /// Users followed, muted or blocked by one user, each.
  public var relations = 5_000
  /// Saved filters of timelines per user; Unicode scalars of a name; values of a list, and words of a filter, of each of which
  /// every examined post costs a lookup; Unicode scalars of a word or phrase.
  public var timelineFilters = 50
  public var filterNameScalars = 64
  public var filterValues = 100
  public var filterWords = 20
  public var filterWordScalars = 100
  /// Posts that are examined for a filter to fill a page. After them it ends early.
  public var filteredPosts = 1_000
  /// Actions of a user that are examined for a page of readable messages. After them it ends early.
  public var examinedActions = 5_000
  /// Unexpired subscriptions of a user in a dialect.
  public var dialectSubscriptions = 100
  /// Positions of a user in lists of a dialect. A further one replaces the oldest.
  public var dialectMarkers = 1_000
  /// Groups of users, and members of each.
  public var userGroups = 100
  public var userGroupMembers = 10_000
  /// Groups with access to a forum, and forums to which a group has access: all change in one transaction when the group
  /// is deleted.
  public var forumGroups = 50
  public var groupForums = 200
  /// Groups mentioned in a message. A group with more members than this is mentioned once per 10 minutes.
  public var groupMentions = 5
  public var freelyMentionedMembers = 50
  /// Addresses by which a user can be found.
  public var addresses = 10
  /// Addresses per lookup, and users returned per address.
  public var discoveries = 200
  public var discovered = 10
  /// Participants of a group or channel. All are notified of its deletion in one transaction.
  public var participants = 2_000
  /// Moderators of the site and of a forum notified of a report, each.
  public var reportRecipients = 100
  /// Open reports per user; messages stored as context of a report, and their bytes.
  public var openReports = 50
  public var reportContext = 6
  public var reportContextBytes = 65_536
  /// Open reports by visitors: of one message, and of all.
  public var visitorReportsOfMessage = 3
  public var visitorReports = 200
  /// Reported messages shown with one user.
  public var reportGroupSubjects = 3
  /// Rules of the staff, at most 64; words and domains of a rule, and the Unicode scalars and words of a phrase.
  public var moderationRules = 50
  public var ruleWords = 1_000
  public var ruleDomains = 1_000
  public var ruleWordScalars = 64
  public var rulePhraseWords = 8
  /// Posts of a user that wait for a moderator.
  public var heldPosts = 50
  /// Messages on which a rule is tried, messages read to find them, and matches shown.
  public var trialMessages = 1_000
  public var trialScan = 10_000
  public var trialMatches = 20
  /// Apps that users created, and those that registered themselves.
  public var apps = 100
  public var registeredApps = 1_000
  /// Forums to which an app is limited.
  public var appForums = 50
  /// Initial participants of a conversation.
  public var initialParticipants = 100
  /// Entries of a snapshot. Clients page the rest.
  public var snapshotForums = 1_000
  public var snapshotConversations = 2_000
  /// The size of the last messages of its conversations.
  public var snapshotBytes = 4 << 20
  public var snapshotUsers = 2_000

  /// The maximum body of an upload request with a preview.
  public var fileBody: Int { fileBytes + previewBytes + Community.maxFormOverhead }

  public init() {}
}
