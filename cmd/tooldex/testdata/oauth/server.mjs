// An authorization server on a port of its own choice, which it prints. Its client "desk" gets access tokens that are JSON Web Tokens,
// "phone" gets opaque ones, and "tooldex" may ask about them; "browser" asks a person, ana, who agrees to whatever it wants. Each
// token is for the resource that is named in its request.
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import { Provider } from 'oidc-provider';

const jwk = (kid, kind, options, alg) =>
  ({ ...generateKeyPairSync(kind, options).privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg });
const server = createServer();
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;
const machine = (client_id) => ({
  client_id, client_secret: `${client_id}-secret`, grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
  token_endpoint_auth_method: 'client_secret_basic',
});
const provider = new Provider(issuer, {
  clients: [machine('desk'), machine('phone'), machine('tooldex'), {
    client_id: 'browser', application_type: 'native', redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'], response_types: ['code'],
  }],
  interactions: { url: (ctx, interaction) => `/agree/${interaction.uid}` },
  jwks: { keys: [jwk('rsa-1', 'rsa', { modulusLength: 2048 }, 'RS256'), jwk('ec-1', 'ec', { namedCurve: 'P-256' }, 'ES256')] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: async () => true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: async (ctx, resource, client) => ({
        scope: 'tools tools.read', audience: resource, accessTokenTTL: 600,
        accessTokenFormat: client.clientId === 'phone' ? 'opaque' : 'jwt',
        jwt: { sign: { alg: client.clientId === 'desk' ? 'ES256' : 'RS256' } },
      }),
    },
  },
  scopes: ['tools', 'tools.read'],
});
const agree = async (req, res) => {
  const { params } = await provider.interactionDetails(req, res);
  const grant = new provider.Grant({ accountId: 'ana', clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  grant.addResourceScope(params.resource, params.scope);
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(req, res, { login: { accountId: 'ana' }, consent });
};
server.on('request', (req, res) => (req.url.startsWith('/agree/') ? agree : provider.callback())(req, res));
console.log(issuer);
process.stdin.resume(); // it ends with whoever started it
process.stdin.on('end', () => process.exit(0));
