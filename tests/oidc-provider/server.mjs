// A real OpenID Connect provider (npm oidc-provider) on loopback, for the sign-in tests.
//
// It prints one line of JSON, {"issuer": ...}, once it listens, and ends when its standard input does, so that no test
// that was killed leaves it behind. Its people have no passwords; an unknown login is an error page, as with providers
// that never send the browser back.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import Provider from 'oidc-provider';

const people = {
  ada: { name: 'Ada Okafor', orgs: ['orchard'] },
  bo: { name: 'Bo Lindqvist', orgs: ['harbor'] },
  cyd: { name: 'Cyd Marsh', orgs: ['orchard', 'harbor'] },
  nia: { name: 'Nia Without', orgs: [] },
};

function signingKey(type, options, alg, kid) {
  const { privateKey } = generateKeyPairSync(type, options);
  return { ...privateKey.export({ format: 'jwk' }), alg, kid, use: 'sig' };
}

const client = (client_id, id_token_signed_response_alg) => ({
  client_id,
  id_token_signed_response_alg,
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  // Without a port: any port of loopback matches then (RFC 8252, 7.3).
  redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]/callback'],
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  response_types: ['code'],
});

const configuration = {
  clients: [client('muster-desktop', 'RS256'), client('muster-desktop-es256', 'ES256')],
  jwks: {
    keys: [
      signingKey('rsa', { modulusLength: 2048 }, 'RS256', 'rsa-1'),
      signingKey('ec', { namedCurve: 'P-256' }, 'ES256', 'ec-1'),
    ],
  },
  scopes: ['openid', 'offline_access', 'profile', 'email', 'org'],
  claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email'], org: ['orgs'] },
  // Claims land in the id token also where an access token is given with it.
  conformIdTokenClaims: false,
  findAccount: (_, id) => people[id] && {
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.org`, ...people[id] }),
  },
  extraTokenClaims: (_, token) => ({ orgs: people[token.accountId]?.orgs }),
  pkce: { required: () => true },
  rotateRefreshToken: true,
  cookies: { keys: [randomBytes(16).toString('hex')] },
  ttl: { AccessToken: 300, IdToken: 3600, RefreshToken: 86400, AuthorizationCode: 60, Interaction: 600, Session: 86400, Grant: 86400 },
  features: {
    devInteractions: { enabled: true },
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true },
    rpInitiatedLogout: { enabled: true },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'https://kms.example',
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'org',
        audience: 'kms',
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
};

// The provider's own notices go to standard error: nobody reads standard output after the first line, and a write into a
// closed pipe would end this program.
console.info = console.error;
console.log = console.error;

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, configuration);
  server.on('request', provider.callback());
  process.stdout.write(`${JSON.stringify({ issuer })}\n`);
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
