/// The texts of commands that administer invites, tokens, bots, webhooks, slash commands and apps.
extension Help {
  static var invite: String {
    """
    parley invite [--role ROLE] [--uses N] [--expires WHEN] [--forum ID] [--claims NAME]

    Prints an invite link, created in the name of the site's owner. With --claims it is for the user of an import with this
    name: the person who opens it chooses the password of the account.
    \(controlSocket)

    Settings

    """ + table([.role, .uses, .expires, .forum, .claims])
  }

  static var token: String {
    """
    parley token NAME [--scope SCOPE] [--name TEXT] [--only-forum ID] [--rate COUNT] [--expires WHEN]

    Prints an API token of the user NAME. It is shown only once; the user can list and revoke it.
    --only-forum, once or more, limits the token to forums; --rate limits its messages, and its
    other changes, per minute.
    \(controlSocket)

    Settings

    """ + table([.scope, .name, .onlyForum, .tokenRate, .expires])
  }

  static var bot: String {
    """
    parley bot create NAME [--display-name TEXT] [--scope SCOPE] [--forum ID ...]
                           [--only-forum ID ...] [--rate COUNT]
    parley bot tokens NAME [--json]
    parley bot create-token NAME [--scope SCOPE]
    parley bot revoke-token NAME TOKEN

    create makes a bot: a user without a password, owned by the site's owner. It prints the API token, which is shown only
    once; create-token prints another one, and revoke-token revokes one that tokens lists. The bot joins the forums of --forum;
    --only-forum limits the token to forums, and --rate replaces the bot's limit of messages, and of other changes, per minute.
    \(controlSocket)

    Settings

    """ + table([.displayName, .botScope, .botForums, .onlyForum, .tokenRate])
  }

  static var botTokens: String {
    """
    parley bot tokens NAME [--json]

    Lists the valid tokens of a bot with their last use. parley bot revoke-token takes the id.
    \(controlSocket)

    Settings

    """ + table([.json])
  }

  static var botRenewal: String {
    """
    parley bot create-token NAME [--scope SCOPE] [--only-forum ID] [--rate COUNT]

    Prints another token of a bot, which is shown only once. The earlier ones stay valid until
    parley bot revoke-token. --only-forum, once or more, limits the token to forums. --rate
    replaces the bot's limit of messages, and of other changes, per minute.
    \(controlSocket)

    Settings

    """ + table([.botScope, .onlyForum, .tokenRate])
  }

  static var botRevocation: String {
    """
    parley bot revoke-token NAME TOKEN

    Revokes a token of a bot at once. TOKEN is an id that parley bot tokens lists.
    \(controlSocket)

    """
  }

  static var bots: String {
    """
    parley bots [--json]

    Lists the bots of the site with their owners, their valid tokens and the last use of one of them.
    \(controlSocket)

    Settings

    """ + table([.json])
  }

  /// For commands that print the response of the server.
  static var jsonResponse: String {
    """

    With --json the command prints the response of the server.

    """ + table([.json])
  }

  /// For commands that also act on another server.
  static var remote: String {
    """

    With --remote the command acts on the server of parley login, with the rights of its user. What the staff must confirm
    there needs a sign-in of the last minutes.

    """ + table(Setting.ofRemote)
  }

  static var webhooks: String {
    """
    parley webhooks list [--json]
    parley webhooks create CONVERSATION NAME
    parley webhooks rotate WEBHOOK
    parley webhooks delete WEBHOOK

    \(webhookWords)

    Settings

    """ + table([.json])
  }

  /// For the commands that change webhooks.
  static var webhookChanges: String {
    """
    parley webhooks create CONVERSATION NAME
    parley webhooks rotate WEBHOOK
    parley webhooks delete WEBHOOK

    \(webhookWords)

    """
  }

  private static var webhookWords: String {
    """
    Incoming webhooks: URLs by which other programs post to one conversation. create and rotate print the URL, which is
    shown only once; anyone with the URL may post. rotate replaces it. CONVERSATION and WEBHOOK are ids.
    \(controlSocket)
    """
  }

  private static var endpointWords: String {
    """
    Outgoing webhooks: URLs of other programs that receive events, signed by Standard Webhooks. create and rotate print the
    secret, which is shown only once; after rotate the earlier one signs, too, for 24 hours. TOPICS are separated by commas:
    me, conversation:ID, forum:ID, forum:ID/messages. The owner is the first owner of the site, who reads the events.
    \(controlSocket)
    """
  }

  static var endpoints: String {
    """
    parley endpoints list [--json]
    parley endpoints deliveries ENDPOINT [--json]

    \(endpointWords)

    Settings

    """ + table([.json])
  }

  static var newEndpoint: String {
    """
    parley endpoints create NAME URL TOPICS [--events KINDS]

    \(endpointWords)

    Settings

    """ + table([.events])
  }

  /// For the commands that change endpoints.
  static var endpointChanges: String {
    """
    parley endpoints enable|disable|rotate|delete ENDPOINT
    parley endpoints redeliver ENDPOINT DELIVERY

    \(endpointWords)

    """
  }

  private static var commandWords: String {
    """
    Slash commands: names that users type in a conversation. Other programs receive the text at a URL, signed by Standard
    Webhooks, and reply as a bot. create and rotate print the secret, which is shown only once; after rotate the earlier one
    signs, too, for 24 hours. BOT is the name of a bot, COMMAND an id. The owner is the first owner of the site.
    \(controlSocket)
    """
  }

  static var commands: String {
    """
    parley commands list [--json]

    \(commandWords)

    Settings

    """ + table([.json])
  }

  static var newCommand: String {
    """
    parley commands create NAME BOT URL [--description TEXT] [--usage TEXT] [--forum ID]

    \(commandWords)

    Settings

    """ + table([.description, .usage, .commandForums])
  }

  /// For the commands that change slash commands.
  static var commandChanges: String {
    """
    parley commands enable|disable|rotate|delete COMMAND

    \(commandWords)

    """
  }

  private static let appWords = """
    Apps are other programs that users let act for them by OAuth 2.1. Without an enabled app, the server has no page to
    allow one. The client id of an app is its ID in the list. URI is where the app receives its answers, or several,
    separated by commas: https, http of 127.0.0.1, or a scheme such as com.example.app:/callback.
    \(controlSocket)
    """

  static var apps: String {
    """
    parley apps list [--json]

    \(appWords)

    Settings

    """ + table([.json])
  }

  static var newApp: String {
    """
    parley apps create NAME URI [--website URL] [--scope SCOPE] [--confidential]

    \(appWords)

    Settings

    """ + table([.website, .appScope, .confidential])
  }

  /// For the commands that change apps.
  static var appChanges: String {
    """
    parley apps enable|disable|rotate|delete APP

    \(appWords)

    """
  }
}
