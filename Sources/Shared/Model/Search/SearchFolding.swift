/// Folds one character as the index's tokenizer, "unicode61 remove_diacritics 2", does: without case, and Latin letters
/// without accents. Used for snippets only: where the two differ, a match is found but not highlighted.
enum SearchFolding {
  static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return letterBytes.contains(scalar.value | 0x20) || digitBytes.contains(scalar.value) }
    return switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber, .privateUse:
      true
    default: false
    }
  }

  static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.isASCII { return letterBytes.contains(scalar.value | 0x20) ? lowered(scalar) : scalar }
    if let base = bases[scalar] { return base }
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    return lower.count == 1 ? lower.first ?? scalar : scalar
  }

  private static let letterBytes: ClosedRange<UInt32> = 0x61...0x7a
  private static let digitBytes: ClosedRange<UInt32> = 0x30...0x39

  private static func lowered(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value | 0x20))
  }

  private static let bases: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = [:]
    for (base, variants) in variants {
      for scalar in variants.unicodeScalars { bases[scalar] = base }
    }
    return bases
  }()

  private static let variants: [(Unicode.Scalar, String)] = [
    ("a", "ÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǺǻȀȁȂȃȦȧḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặ"),
    ("b", "ḂḃḄḅḆḇ"),
    ("c", "ÇçĆćĈĉĊċČčḈḉ"),
    ("d", "ĎďḊḋḌḍḎḏḐḑḒḓ"),
    ("e", "ÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇȨȩḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệ"),
    ("f", "Ḟḟ"),
    ("g", "ĜĝĞğĠġĢģǦǧǴǵḠḡ"),
    ("h", "ĤĥȞȟḢḣḤḥḦḧḨḩḪḫẖ"),
    ("i", "ÌÍÎÏìíîïĨĩĪīĬĭĮįİǏǐȈȉȊȋḬḭḮḯỈỉỊị"),
    ("j", "Ĵĵǰ"),
    ("k", "ĶķǨǩḰḱḲḳḴḵ"),
    ("l", "ĹĺĻļĽľḶḷḸḹḺḻḼḽ"),
    ("m", "ḾḿṀṁṂṃ"),
    ("n", "ÑñŃńŅņŇňǸǹṄṅṆṇṈṉṊṋ"),
    ("o", "ÒÓÔÕÖòóôõöŌōŎŏŐőƠơǑǒǪǫǬǭȌȍȎȏȪȫȬȭȮȯȰȱṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợ"),
    ("p", "ṔṕṖṗ"),
    ("r", "ŔŕŖŗŘřȐȑȒȓṘṙṚṛṜṝṞṟ"),
    ("s", "ŚśŜŝŞşŠšſȘșṠṡṢṣṤṥṦṧṨṩẛ"),
    ("t", "ŢţŤťȚțṪṫṬṭṮṯṰṱẗ"),
    ("u", "ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữỰự"),
    ("v", "ṼṽṾṿ"),
    ("w", "ŴŵẀẁẂẃẄẅẆẇẈẉẘ"),
    ("x", "ẊẋẌẍ"),
    ("y", "ÝýÿŶŷŸȲȳẎẏẙỲỳỴỵỶỷỸỹ"),
    ("z", "ŹźŻżŽžẐẑẒẓẔẕ"),
    ("k", "\u{212a}"), ("a", "\u{212b}"),
    ("\u{3b2}", "\u{3d0}"), ("\u{3b5}", "\u{3f5}"), ("\u{3b8}", "\u{3d1}"), ("\u{3b9}", "\u{1fbe}"),
    ("\u{3ba}", "\u{3f0}"),
    ("\u{3bc}", "\u{b5}"), ("\u{3c0}", "\u{3d6}"), ("\u{3c1}", "\u{3f1}"), ("\u{3c3}", "\u{3c2}"),
    ("\u{3c6}", "\u{3d5}"),
  ]
}
