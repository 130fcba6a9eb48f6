import 'package:flutter/services.dart';

/// Why a call failed. Only `notSignedIn` and `ended` mean that the app shows the login.
class SojournException implements Exception {
  SojournException(this.kind, this.reason);

  final String kind;
  final String? reason;
}

/// The session of the native SDK.
class Sojourn {
  Sojourn({required this.onState}) {
    _channel.setMethodCallHandler((call) async {
      if (call.method == 'state') onState(Map<String, Object?>.from(call.arguments as Map));
    });
  }

  static const _channel = MethodChannel('sojourn');
  final void Function(Map<String, Object?> state) onState;

  Future<Map<String, Object?>> start() => _call('start');

  Future<Map<String, Object?>> state() => _call('state');

  Future<void> signIn(String username, String password, {String mode = 'NO'}) =>
      _call('signIn', {'username': username, 'password': password, 'mode': mode});

  Future<void> signInByPage(String redirectURI) => _call('signInByPage', {'redirectURI': redirectURI});

  Future<Map<String, Object?>> accessToken({String need = 'usable'}) => _call('accessToken', {'need': need});

  /// The header fields of one request. A client of HTTP that follows redirects would carry them to another host.
  Future<Map<String, Object?>> authorize(String method, String url) => _call('authorize', {'method': method, 'url': url});

  Future<void> reject(Map<String, Object?> token) => _call('reject', token);

  Future<void> signOut() => _call('signOut');

  Future<void> unlock({String? password}) => _call('unlock', {'password': password});

  Future<void> settle({double seconds = 5}) => _call('settle', {'seconds': seconds});

  Future<Map<String, Object?>> _call(String name, [Map<String, Object?> words = const {}]) async {
    final answer = Map<String, Object?>.from(await _channel.invokeMethod<Map>(name, words) ?? {});
    final error = answer['error'] as String?;
    if (error != null) throw SojournException(error, answer['reason'] as String?);
    return answer;
  }
}
