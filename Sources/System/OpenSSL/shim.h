// OpenSSL 3, and functions for its macros.
#pragma once
// SHA1_Init and the like. EVP loads the providers of all algorithms: 2 MB that an idle daemon does not need.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <limits.h>
#include <time.h>
#include <sys/random.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/obj_mac.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/core_names.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/pem.h>

static inline int parley_sha1(const void *bytes, size_t count, unsigned char *digest) {
  SHA_CTX context;
  return SHA1_Init(&context) && SHA1_Update(&context, bytes, count) && SHA1_Final(digest, &context);
}
static inline int parley_sha256(const void *bytes, size_t count, unsigned char *digest) {
  SHA256_CTX context;
  return SHA256_Init(&context) && SHA256_Update(&context, bytes, count) && SHA256_Final(digest, &context);
}
// Random bytes of the kernel. A signal interrupts only long reads.
static inline int parley_random(unsigned char *bytes, size_t count) {
  while (count > 0) {
    ssize_t taken = getrandom(bytes, count < 256 ? count : 256, 0);
    if (taken < 0) return 0;
    bytes += taken;
    count -= (size_t)taken;
  }
  return 1;
}

// AES-GCM with a nonce of 12 bytes and a key of 16 or 32 bytes. `sealed` gets the cipher text and a tag of 16 bytes.
static inline int parley_seal(const unsigned char *key, size_t key_count, const unsigned char *nonce,
                              const unsigned char *context, size_t context_count, const unsigned char *text,
                              size_t count, unsigned char *sealed) {
  if (count > INT_MAX || context_count > INT_MAX) return 0;
  const EVP_CIPHER *kind = key_count == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
  EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
  int taken = 0;
  int done = cipher && EVP_EncryptInit_ex(cipher, kind, NULL, key, nonce) == 1
    && (context_count == 0 || EVP_EncryptUpdate(cipher, NULL, &taken, context, (int)context_count) == 1)
    && (count == 0 || EVP_EncryptUpdate(cipher, sealed, &taken, text, (int)count) == 1)
    && EVP_EncryptFinal_ex(cipher, sealed + count, &taken) == 1
    && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, 16, sealed + count) == 1;
  EVP_CIPHER_CTX_free(cipher);
  return done;
}
// 1 if the tag is right, 0 if it is wrong, -1 for a failure of OpenSSL. `count` does not include the tag.
static inline int parley_unseal(const unsigned char *key, size_t key_count, const unsigned char *nonce,
                                const unsigned char *context, size_t context_count, const unsigned char *sealed,
                                size_t count, unsigned char *text) {
  if (count > INT_MAX || context_count > INT_MAX) return -1;
  const EVP_CIPHER *kind = key_count == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
  EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
  int taken = 0;
  int ready = cipher && EVP_DecryptInit_ex(cipher, kind, NULL, key, nonce) == 1
    && (context_count == 0 || EVP_DecryptUpdate(cipher, NULL, &taken, context, (int)context_count) == 1)
    && (count == 0 || EVP_DecryptUpdate(cipher, text, &taken, sealed, (int)count) == 1)
    && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, 16, (void *)(sealed + count)) == 1;
  unsigned char scrap[16];
  int result = !ready ? -1 : EVP_DecryptFinal_ex(cipher, scrap, &taken) == 1;
  EVP_CIPHER_CTX_free(cipher);
  return result;
}

// P-256. A secret is a number of 32 bytes, a point 65 bytes without compression (SEC 1 §2.3.3).

static inline EC_KEY *parley_p256_key(const unsigned char *secret) {
  EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  const EC_GROUP *group = key ? EC_KEY_get0_group(key) : NULL;
  BIGNUM *number = BN_secure_new();
  EC_POINT *point = group ? EC_POINT_new(group) : NULL;
  int made = number && point && BN_bin2bn(secret, 32, number) && !BN_is_zero(number)
    && BN_cmp(number, EC_GROUP_get0_order(group)) < 0 && EC_KEY_set_private_key(key, number) == 1
    && EC_POINT_mul(group, point, number, NULL, NULL, NULL) == 1 && EC_KEY_set_public_key(key, point) == 1;
  EC_POINT_free(point);
  BN_clear_free(number);
  if (made) return key;
  EC_KEY_free(key);
  return NULL;
}
static inline int parley_p256_write_point(const EC_KEY *key, unsigned char *point) {
  return EC_POINT_point2oct(EC_KEY_get0_group(key), EC_KEY_get0_public_key(key), POINT_CONVERSION_UNCOMPRESSED, point,
                            65, NULL) == 65;
}
static inline int parley_p256_make(unsigned char *secret, unsigned char *point) {
  EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  int made = key && EC_KEY_generate_key(key) == 1 && BN_bn2binpad(EC_KEY_get0_private_key(key), secret, 32) == 32
    && parley_p256_write_point(key, point);
  EC_KEY_free(key);
  return made;
}
static inline int parley_p256_point(const unsigned char *secret, unsigned char *point) {
  EC_KEY *key = parley_p256_key(secret);
  int done = key && parley_p256_write_point(key, point);
  EC_KEY_free(key);
  return done;
}
// The key of a point, which must be on the curve and not at infinity.
static inline EC_KEY *parley_p256_public_key(const unsigned char *bytes) {
  EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  EC_POINT *point = key ? EC_POINT_new(EC_KEY_get0_group(key)) : NULL;
  int made = point && bytes[0] == 4 && EC_POINT_oct2point(EC_KEY_get0_group(key), point, bytes, 65, NULL) == 1
    && EC_KEY_set_public_key(key, point) == 1 && EC_KEY_check_key(key) == 1;
  EC_POINT_free(point);
  if (made) return key;
  EC_KEY_free(key);
  return NULL;
}
static inline int parley_p256_has_point(const unsigned char *point) {
  EC_KEY *key = parley_p256_public_key(point);
  EC_KEY_free(key);
  return key != NULL;
}
static inline int parley_p256_agree(const unsigned char *secret, const unsigned char *point, unsigned char *shared) {
  EC_KEY *own = parley_p256_key(secret);
  EC_KEY *other = parley_p256_public_key(point);
  int done = own && other && ECDH_compute_key(shared, 32, EC_KEY_get0_public_key(other), own, NULL) == 32;
  EC_KEY_free(own);
  EC_KEY_free(other);
  return done;
}
// The signature is r and s, 32 bytes each (RFC 7518 §3.4).
static inline int parley_p256_sign(const unsigned char *secret, const unsigned char *digest, unsigned char *signature) {
  EC_KEY *key = parley_p256_key(secret);
  ECDSA_SIG *made = key ? ECDSA_do_sign(digest, 32, key) : NULL;
  int done = made && BN_bn2binpad(ECDSA_SIG_get0_r(made), signature, 32) == 32
    && BN_bn2binpad(ECDSA_SIG_get0_s(made), signature + 32, 32) == 32;
  ECDSA_SIG_free(made);
  EC_KEY_free(key);
  return done;
}
static inline int parley_p256_verify(const unsigned char *point, const unsigned char *digest,
                                     const unsigned char *signature) {
  EC_KEY *key = parley_p256_public_key(point);
  ECDSA_SIG *given = ECDSA_SIG_new();
  BIGNUM *r = BN_bin2bn(signature, 32, NULL), *s = BN_bin2bn(signature + 32, 32, NULL);
  int is_set = given && r && s && ECDSA_SIG_set0(given, r, s) == 1;
  if (!is_set) {
    BN_free(r);
    BN_free(s);
  }
  int result = is_set && key && ECDSA_do_verify(digest, 32, given, key) == 1;
  ECDSA_SIG_free(given);
  EC_KEY_free(key);
  return result;
}

// The signature is r and s in DER (RFC 3279 §2.2.3). OpenSSL refuses other encodings of the same numbers.
static inline int parley_p256_verify_der(const unsigned char *point, const unsigned char *digest,
                                         const unsigned char *signature, size_t count) {
  EC_KEY *key = count > 0 && count <= 80 ? parley_p256_public_key(point) : NULL;
  int result = key && ECDSA_verify(0, digest, 32, signature, (int)count, key) == 1;
  EC_KEY_free(key);
  return result;
}
// `signature` has room for 80 bytes. Returns the count of bytes, or 0.
static inline unsigned parley_p256_sign_der(const unsigned char *secret, const unsigned char *digest,
                                            unsigned char *signature) {
  EC_KEY *key = parley_p256_key(secret);
  unsigned count = 0;
  int done = key && ECDSA_size(key) <= 80 && ECDSA_sign(0, digest, 32, signature, &count, key) == 1;
  EC_KEY_free(key);
  return done ? count : 0;
}

// Ed25519 (RFC 8032). A secret and a public key have 32 bytes, a signature 64.

static inline int parley_ed25519_make(unsigned char *secret, unsigned char *public_key) {
  EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
  size_t secret_count = 32, public_count = 32;
  int made = key && EVP_PKEY_get_raw_private_key(key, secret, &secret_count) == 1
    && EVP_PKEY_get_raw_public_key(key, public_key, &public_count) == 1;
  EVP_PKEY_free(key);
  return made;
}
static inline int parley_ed25519_public(const unsigned char *secret, unsigned char *public_key) {
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, 32);
  size_t public_count = 32;
  int done = key && EVP_PKEY_get_raw_public_key(key, public_key, &public_count) == 1;
  EVP_PKEY_free(key);
  return done;
}
// Whether 32 bytes are a point of the curve -x² + y² = 1 + dx²y² (RFC 8032 §5.1.3): y is below p = 2²⁵⁵ - 19, and
// (y² - 1) / (dy² + 1) is a square. OpenSSL checks it at the first signature only.
static inline int parley_ed25519_has_point(const unsigned char *bytes) {
  unsigned char reversed[32];
  for (int index = 0; index < 32; index++) reversed[index] = bytes[31 - index];
  reversed[0] &= 0x7f;
  BN_CTX *context = BN_CTX_new();
  if (!context) return 0;
  BN_CTX_start(context);
  BIGNUM *p = BN_CTX_get(context), *d = BN_CTX_get(context), *y = BN_CTX_get(context);
  BIGNUM *u = BN_CTX_get(context), *v = BN_CTX_get(context);
  int ready = v && BN_set_bit(p, 255) && BN_sub_word(p, 19)
    && BN_hex2bn(&d, "52036CEE2B6FFE738CC740797779E89800700A4D4141D8AB75EB4DCA135978A3")
    && BN_bin2bn(reversed, 32, y) && BN_cmp(y, p) < 0 && BN_mod_sqr(v, y, p, context) && BN_copy(u, v)
    && BN_sub_word(u, 1) && BN_mod_mul(v, v, d, p, context) && BN_add_word(v, 1)
    && BN_nnmod(u, u, p, context) && BN_mod_mul(u, u, v, p, context);
  int result = ready && BN_kronecker(u, p, context) >= 0;
  BN_CTX_end(context);
  BN_CTX_free(context);
  return result;
}
static inline int parley_ed25519_sign(const unsigned char *secret, const unsigned char *bytes, size_t count,
                                      unsigned char *signature) {
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, 32);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  size_t signature_count = 64;
  int done = key && context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1
    && EVP_DigestSign(context, signature, &signature_count, bytes, count) == 1 && signature_count == 64;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
  return done;
}
static inline int parley_ed25519_verify(const unsigned char *public_key, const unsigned char *bytes, size_t count,
                                        const unsigned char *signature) {
  EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, 32);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int result = key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1
    && EVP_DigestVerify(context, signature, 64, bytes, count) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
  return result;
}

// RSA with PKCS #1 v1.5 and SHA-256 (RFC 8017 §8.2).

static inline int parley_rsa_verify(const unsigned char *modulus, size_t modulus_count, const unsigned char *exponent,
                                    size_t exponent_count, const unsigned char *digest, const unsigned char *signature,
                                    size_t count) {
  if (modulus_count > 1024 || exponent_count > 8 || count != modulus_count) return 0;
  RSA *key = RSA_new();
  BIGNUM *n = BN_bin2bn(modulus, (int)modulus_count, NULL), *e = BN_bin2bn(exponent, (int)exponent_count, NULL);
  int is_set = key && n && e && RSA_set0_key(key, n, e, NULL) == 1;
  if (!is_set) {
    BN_free(n);
    BN_free(e);
  }
  int result = is_set && RSA_verify(NID_sha256, digest, 32, signature, (unsigned)count, key) == 1;
  RSA_free(key);
  return result;
}
// Writes the private key in DER (RFC 8017 §A.1.2) to `secret`, which has room for `capacity` bytes. Returns the count of
// bytes, or 0.
static inline size_t parley_rsa_make(int bits, unsigned char *secret, size_t capacity) {
  RSA *key = RSA_new();
  BIGNUM *e = BN_new();
  int made = key && e && BN_set_word(e, RSA_F4) && RSA_generate_key_ex(key, bits, e, NULL) == 1;
  int count = made ? i2d_RSAPrivateKey(key, NULL) : 0;
  unsigned char *end = secret;
  if (count <= 0 || (size_t)count > capacity || i2d_RSAPrivateKey(key, &end) != count) count = 0;
  BN_free(e);
  RSA_free(key);
  return (size_t)count;
}
// Writes the modulus, and returns the count of its bytes, or 0.
static inline size_t parley_rsa_modulus(const unsigned char *secret, size_t secret_count, unsigned char *modulus,
                                        size_t capacity) {
  RSA *key = secret_count <= LONG_MAX ? d2i_RSAPrivateKey(NULL, &secret, (long)secret_count) : NULL;
  size_t count = key ? (size_t)RSA_size(key) : 0;
  if (count > capacity || (count > 0 && BN_bn2bin(RSA_get0_n(key), modulus) != (int)count)) count = 0;
  RSA_free(key);
  return count;
}
static inline size_t parley_rsa_sign(const unsigned char *secret, size_t secret_count, const unsigned char *digest,
                                     unsigned char *signature, size_t capacity) {
  RSA *key = secret_count <= LONG_MAX ? d2i_RSAPrivateKey(NULL, &secret, (long)secret_count) : NULL;
  unsigned count = 0;
  int done = key && (size_t)RSA_size(key) <= capacity && RSA_sign(NID_sha256, digest, 32, signature, &count, key) == 1;
  RSA_free(key);
  return done ? count : 0;
}

// The queue of errors is mostly empty: clearing all of its entries costs ten times as much.
static inline void parley_ERR_clear(void) {
  if (ERR_peek_error() != 0) ERR_clear_error();
}
static inline long parley_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}
static inline void parley_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
  SSL_CTX_set_min_proto_version(context, version);
}
// Idle connections release their buffers; partial writes are allowed, and retries from another buffer address; renegotiation
// is disabled; the server's cipher order takes precedence; an EOF without close_notify is not an error.
static inline void parley_SSL_CTX_configure(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
                                   | SSL_OP_PRIORITIZE_CHACHA | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
// The begin and the end of the validity in seconds since 1970; -1 if it is malformed.
static inline long parley_X509_not_before(const X509 *certificate) {
  struct tm time;
  if (ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &time) != 1) return -1;
  return timegm(&time);
}
static inline long parley_X509_not_after(const X509 *certificate) {
  struct tm time;
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) != 1) return -1;
  return timegm(&time);
}
static inline int parley_X509_covers(X509 *certificate, const char *host, int is_address) {
  return is_address ? X509_check_ip_asc(certificate, host, 0) : X509_check_host(certificate, host, 0, 0, 0);
}
static inline long parley_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate);
}
static inline long parley_SSL_CTX_set_ticket_keys(SSL_CTX *context, void *keys, int length) {
  return SSL_CTX_set_tlsext_ticket_keys(context, keys, length);
}
static inline long parley_BIO_get_mem_data(BIO *bio, char **start) { return BIO_get_mem_data(bio, start); }
static inline void parley_BIO_drop(BIO *bio, size_t count) {
  char scrap[4096];
  while (count > 0) {
    int taken = BIO_read(bio, scrap, count < sizeof scrap ? (int)count : (int)sizeof scrap);
    if (taken <= 0) return;
    count -= (size_t)taken;
  }
}
// An empty passphrase, because the default callback prompts on the terminal.
static inline EVP_PKEY *parley_PEM_read_key(BIO *bio) { return PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)""); }

static inline EVP_PKEY *parley_new_p256_key(void) { return EVP_EC_gen("P-256"); }

static inline int parley_add_extension(X509 *certificate, X509V3_CTX *context, int kind, const char *value) {
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, kind, value);
  if (!extension) return 0;
  int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added;
}

static inline X509 *parley_self_signed(EVP_PKEY *key, const char *name, const char *alternatives, long now, long days) {
  X509 *certificate = X509_new();
  if (!certificate) return NULL;
  X509_NAME *subject = X509_get_subject_name(certificate);
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
  unsigned char serial[16];
  BIGNUM *number = NULL;
  int made = X509_set_version(certificate, 2) && RAND_bytes(serial, sizeof serial) == 1
    && (serial[0] &= 0x7f, number = BN_bin2bn(serial, sizeof serial, NULL)) != NULL
    && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL
    && ASN1_TIME_set(X509_getm_notBefore(certificate), now - 3600) != NULL
    && ASN1_TIME_adj(X509_getm_notAfter(certificate), now, (int)days, 0) != NULL
    && X509_set_pubkey(certificate, key)
    && X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0)
    && X509_set_issuer_name(certificate, subject)
    && parley_add_extension(certificate, &context, NID_basic_constraints, "critical,CA:FALSE")
    && parley_add_extension(certificate, &context, NID_key_usage, "critical,digitalSignature")
    && parley_add_extension(certificate, &context, NID_ext_key_usage, "serverAuth")
    && parley_add_extension(certificate, &context, NID_subject_alt_name, alternatives)
    && X509_sign(certificate, key, EVP_sha256()) > 0;
  BN_free(number);
  if (made) return certificate;
  X509_free(certificate);
  return NULL;
}
