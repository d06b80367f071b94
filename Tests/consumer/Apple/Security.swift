// The declarations of Security and CoreFoundation that the store for the keychain uses.

public typealias CFString = String
public typealias CFDictionary = [CFString: Any]
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32

public let kSecClass = "class", kSecClassGenericPassword = "genp", kSecAttrService = "svce", kSecAttrAccount = "acct"
public let kSecAttrAccessGroup = "agrp", kSecReturnData = "r_Data", kSecValueData = "v_Data"
public let kSecAttrAccessible = "pdmn", kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "cku"
public let errSecSuccess: OSStatus = 0, errSecItemNotFound: OSStatus = -25_300

@unsafe public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
{ 0 }
public func SecItemUpdate(_ query: CFDictionary, _ values: CFDictionary) -> OSStatus { 0 }
@unsafe public func SecItemAdd(_ values: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
@discardableResult public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
