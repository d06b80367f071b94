/// Names of emoji in other programs.
enum EmojiNames {
  /// The name of a custom emoji in the form of Parley: lower-case letters, digits, `_` and `-`.
  static func custom(_ name: String) -> String {
    let allowed = name.lowercased().unicodeScalars.filter { scalar in
      scalar.isASCII
        && (scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value) || scalar == "_" || scalar == "-")
    }
    let text = String(String.UnicodeScalarView(allowed)).prefix(32)
    return text.utf8.count >= 2 ? String(text) : "emoji-\(text)"
  }

  /// The action of a reaction by its name, such as `+1`. Others keep their name.
  static func action(_ name: String) -> String {
    let parts = name.split(separator: ":").map(String.init)
    guard let first = parts.first else { return "reaction:\u{1F44D}" }
    if let sign = signs[first] {
      let tone = parts.dropFirst().first.flatMap { tones[$0] } ?? ""
      return "reaction:\(sign)\(tone)"
    }
    return "reaction::\(custom(first)):"
  }

  private static let tones = [
    "skin-tone-2": "\u{1F3FB}", "skin-tone-3": "\u{1F3FC}", "skin-tone-4": "\u{1F3FD}", "skin-tone-5": "\u{1F3FE}",
    "skin-tone-6": "\u{1F3FF}",
  ]

  /// The names that make up nearly all reactions.
  private static let signs: [String: String] = [
    "+1": "👍", "thumbsup": "👍", "-1": "👎", "thumbsdown": "👎", "heart": "❤️", "joy": "😂", "tada": "🎉", "fire": "🔥",
    "eyes": "👀", "rocket": "🚀", "clap": "👏", "pray": "🙏", "raised_hands": "🙌", "ok_hand": "👌", "wave": "👋",
    "muscle": "💪", "100": "💯", "white_check_mark": "✅", "heavy_check_mark": "✔️", "ballot_box_with_check": "☑️",
    "x": "❌", "heavy_plus_sign": "➕", "heavy_minus_sign": "➖", "question": "❓", "exclamation": "❗", "warning": "⚠️",
    "bulb": "💡", "star": "⭐", "star2": "🌟", "sparkles": "✨", "smile": "😄", "smiley": "😃", "grinning": "😀",
    "grin": "😁", "laughing": "😆", "satisfied": "😆", "sweat_smile": "😅", "rolling_on_the_floor_laughing": "🤣",
    "rofl": "🤣", "slightly_smiling_face": "🙂", "simple_smile": "🙂", "wink": "😉", "blush": "😊",
    "heart_eyes": "😍", "kissing_heart": "😘", "thinking_face": "🤔", "thinking": "🤔", "face_with_rolling_eyes": "🙄",
    "neutral_face": "😐", "expressionless": "😑", "confused": "😕", "cry": "😢", "sob": "😭", "scream": "😱",
    "open_mouth": "😮", "astonished": "😲", "angry": "😠", "rage": "😡", "sunglasses": "😎", "nerd_face": "🤓",
    "hugging_face": "🤗", "hugs": "🤗", "face_palm": "🤦", "shrug": "🤷", "man-shrugging": "🤷‍♂️",
    "woman-shrugging": "🤷‍♀️", "point_up": "☝️", "point_down": "👇", "point_right": "👉", "point_left": "👈",
    "v": "✌️", "crossed_fingers": "🤞", "metal": "🤘", "the_horns": "🤘", "fist": "✊", "facepunch": "👊", "punch": "👊",
    "handshake": "🤝", "writing_hand": "✍️", "blue_heart": "💙", "green_heart": "💚", "yellow_heart": "💛",
    "purple_heart": "💜", "black_heart": "🖤", "orange_heart": "🧡", "broken_heart": "💔", "two_hearts": "💕",
    "heart_hands": "🫶", "partying_face": "🥳", "confetti_ball": "🎊", "balloon": "🎈", "birthday": "🎂", "gift": "🎁",
    "trophy": "🏆", "medal": "🏅", "crown": "👑", "beer": "🍺", "beers": "🍻", "coffee": "☕", "pizza": "🍕", "cake": "🍰",
    "cookie": "🍪", "bug": "🐛", "dog": "🐶", "cat": "🐱", "unicorn_face": "🦄", "unicorn": "🦄", "penguin": "🐧",
    "turtle": "🐢", "sunny": "☀️", "rainbow": "🌈", "zap": "⚡", "snowflake": "❄️", "earth_africa": "🌍", "seedling": "🌱",
    "four_leaf_clover": "🍀", "lock": "🔒", "key": "🔑", "hammer": "🔨", "wrench": "🔧", "gear": "⚙️", "memo": "📝",
    "pencil": "📝", "book": "📖", "books": "📚", "calendar": "📅", "pushpin": "📌", "mag": "🔍", "link": "🔗",
    "email": "✉️", "phone": "☎️", "computer": "💻", "hourglass": "⌛", "alarm_clock": "⏰", "recycle": "♻️",
    "arrow_up": "⬆️", "arrow_down": "⬇️", "speech_balloon": "💬", "thought_balloon": "💭", "bell": "🔔", "mega": "📣",
    "loudspeaker": "📢", "skull": "💀", "ghost": "👻", "robot_face": "🤖", "robot": "🤖", "see_no_evil": "🙈",
    "hear_no_evil": "🙉", "speak_no_evil": "🙊", "saluting_face": "🫡", "melting_face": "🫠", "exploding_head": "🤯",
    "relieved": "😌", "pensive": "😔", "disappointed": "😞", "weary": "😩", "sleeping": "😴", "zzz": "💤",
    "upside_down_face": "🙃", "stuck_out_tongue": "😛", "stuck_out_tongue_winking_eye": "😜", "yum": "😋", "smirk": "😏",
    "innocent": "😇", "cold_sweat": "😰", "flushed": "😳", "dizzy_face": "😵", "mask": "😷", "poop": "💩", "hankey": "💩",
    "boom": "💥", "collision": "💥", "dart": "🎯", "checkered_flag": "🏁", "construction": "🚧", "rotating_light": "🚨",
    "stop_sign": "🛑", "no_entry": "⛔", "no_entry_sign": "🚫", "soon": "🔜", "new": "🆕", "ok": "🆗", "cool": "🆒",
    "one": "1️⃣", "two": "2️⃣", "three": "3️⃣", "four": "4️⃣", "five": "5️⃣",
  ]
}
