// Every endpoint, one line each.

import Web
import Wire

extension API {
  static let endpoints: [Endpoint] = [
    // How people get in.
    Endpoint(.post, "/users", .anyone, counts: .registration, register),
    Endpoint(.get, "/invites", .person(.read), listInvites),
    Endpoint(.post, "/invites", .person(.write), invite),
    Endpoint(.get, "/invites/{code}", .anyone, showInvite),
    Endpoint(.delete, "/invites/{code}", .person(.write), revokeInvite),
    Endpoint(.get, "/links/{code}", .anyone, showLink),
    Endpoint(.post, "/links/{code}", .anyone, counts: .login, useLink),
    Endpoint(.post, "/sessions", .anyone, counts: .login, signIn),
    Endpoint(.get, "/sessions", .person(.read), listSessions),
    Endpoint(.delete, "/sessions/{id}", .person(.read), endSession),
    Endpoint(.post, "/me/tokens", .person(.write), makeToken),
    Endpoint(.get, "/me/tokens", .person(.read), listTokens),
    Endpoint(.delete, "/me/tokens/{id}", .person(.read), endToken),
    Endpoint(.put, "/me/password", .person(.admin), counts: .login, changePassword),
    // People.
    Endpoint(.get, "/users", .person(.read), listPeople),
    Endpoint(.get, "/users/{id}", .anyone, showPerson),
    Endpoint(.patch, "/users/{id}", .person(.write), changePerson),
    Endpoint(.delete, "/users/{id}", .person(.admin), counts: .login, leave),
    Endpoint(.get, "/users/{id}/avatar", .anyone, showAvatar),
    Endpoint(.post, "/users/discover", .person(.write), counts: .discovery, discover),
    Endpoint(.put, "/users/{id}/follow", .person(.write), set(.follow)),
    Endpoint(.delete, "/users/{id}/follow", .person(.write), end(.follow)),
    Endpoint(.put, "/users/{id}/mute", .person(.write), set(.mute)),
    Endpoint(.delete, "/users/{id}/mute", .person(.write), end(.mute)),
    Endpoint(.put, "/users/{id}/block", .person(.write), set(.block)),
    Endpoint(.delete, "/users/{id}/block", .person(.write), end(.block)),
    Endpoint(.get, "/users/{id}/followers", .person(.read), listFollowers),
    Endpoint(.get, "/users/{id}/following", .person(.read), listFollowing),
    Endpoint(.get, "/me/muted", .person(.read), list(.mute)),
    Endpoint(.get, "/me/blocked", .person(.read), list(.block)),
    Endpoint(.put, "/users/{id}/approval", .person(.admin), approve),
    Endpoint(.delete, "/users/{id}/approval", .person(.admin), refuse),
    Endpoint(.post, "/users/{id}/reset", .person(.admin), resetPassword),
    // Forums.
    Endpoint(.get, "/forums", .anyone, listForums),
    Endpoint(.post, "/forums", .person(.write), createForum),
    Endpoint(.get, "/forums/{id}", .anyone, getForum),
    Endpoint(.patch, "/forums/{id}", .person(.write), changeForum),
    Endpoint(.delete, "/forums/{id}", .person(.write), deleteForum),
    Endpoint(.get, "/forums/{id}/members", .anyone, listMembers),
    Endpoint(.put, "/forums/{id}/members/{user}", .person(.write), setMember),
    Endpoint(.delete, "/forums/{id}/members/{user}", .person(.write), removeMember),
    // The place.
    Endpoint(.get, "/server", .anyone, showServer),
    Endpoint(.get, "/settings", .anyone, showSettings),
    Endpoint(.patch, "/settings", .person(.admin), changeSettings),
  ]
}
