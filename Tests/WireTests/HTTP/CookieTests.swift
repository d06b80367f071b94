import ParleyWire
import Testing

@Suite struct CookieTests {
  @Test func `cookies are parsed, malformed ones ignored`() {
    let cookies = Cookies(Fields(["Cookie": "a=1; b=\"2\";c = 3 ; bad; =x; d=\"; e=a b; f=g=h", "Cookie": "a=4"]))
    #expect(cookies["a"] == "1")
    #expect(cookies.all("a") == ["1", "4"])
    #expect(cookies["b"] == "2")
    #expect(cookies["c"] == "3")
    #expect(cookies["f"] == "g=h")
    for name in ["bad", "", "d", "e"] { #expect(cookies[name] == nil) }
  }

  @Test func `a cookie is written with its security attributes`() {
    let cookie = SetCookie(name: "__Host-session", value: "abc", maxAge: 60, isSecure: true)
    #expect(cookie?.fieldValue == "__Host-session=abc; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax")
    for (name, value, path) in [
      ("a b", "x", "/"), ("", "x", "/"), ("a", "x;y", "/"), ("a", "x\r\n", "/"), ("a", "x", "/;b"), ("a", "x", "b"),
    ] {
      #expect(SetCookie(name: name, value: value, path: path, isSecure: true) == nil)
    }
    #expect(SetCookie(name: "__Host-a", value: "x", isSecure: false) == nil)
    #expect(SetCookie(name: "__Host-a", value: "x", path: "/b", isSecure: true) == nil)
    #expect(SetCookie(name: "__Secure-a", value: "x", isSecure: false) == nil)
  }
}
