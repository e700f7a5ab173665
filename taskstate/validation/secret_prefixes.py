"""The table of tokens that a prefix tells: their kind, the prefixes, and what follows, a row for each kind.

In what follows, `%W` is a letter, a digit, `_` or `-`, `%A` a letter or digit, `%H` a hexadecimal digit, `%U` a UUID.
Lengths are lower bounds where services have several. Every row has its lines in tests/cases/secrets.
"""

from __future__ import annotations

ROWS = r"""
a 1Password recovery key | 1PRK- | [A-Z0-9]{4}(?:-[A-Z0-9]{4}){12}
a 1Password secret key | A3- | [A-Z0-9]{6}-[A-Z0-9-]{27,32}
an Adafruit key | aio_ | %A{28}
an Adobe secret | p8e- | %H{32}
an Akamai secret | akab- | %A{16}-%A{16}
an Amazon key | amzn.mws. | %U
an Amazon secret | amzn1.oa2-cs.v1. | %H{64}
an Anyscale token | esecret_ aph0_ | %A{26,}
an Apify token | apify_api_ | %A{34,38}
an Appwrite key | standard_ | %H{64,}
an Arcjet key | ajkey_ | %A{26,}
an Asaas key | aact_prod_ aact_hmlg_ | %W{30,}
an Atlassian token | ATSTT3 | [A-Za-z0-9_=-]{100,}
an AWS Bedrock key | bedrock-api-key- | (?:YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=%]{0,4000}|[A-Za-z0-9+/]{60,})
a Baidu key | bce-v3/ALTAK- | %A{21}/[a-f0-9]{40}
a Braintree or PayPal token | access_token$production$ access_token$sandbox$ | %A{16}\$%A{32}
a Branch key | key_live_ key_test_ | %A{32}
a Brevo key | xkeysib- xsmtpsib- | %H{64}-%A{12,}
a Browserbase key | bb_live_ bb_test_ | %W{20,}
a Builder.io key | bpk- | %H{32}
a Cal.com key | cal_live_ | %A{30,}
a Cerebras key | csk- | [a-z0-9]{48}
a Cfx.re key | cfxk_ | %A{20,}
a Checkout.com key | sk_ sk_sbox_ | %U
a ClickUp token | pk_ | [0-9]{5,10}_[A-Z0-9]{32}
a Close key | api_ | %A{22}\.%A{22}
a CockroachDB key | CCDB1_ | %A{20,}_%A{40,}
a CodeRabbit key | cr- | %H{50,}
a Coze token | pat_ | %A{64}
a Crossmint key | sk_staging_ ck_staging_ sk_production_ ck_production_ | %A{28,}
a Cursor key | key_ crsr_ | %H{28,130}
a Defined Networking token | dnkey- | %W{26}-%W{52}
a Deno token | ddp_ ddw_ ddo_ | %A{36}
a Dependency Track key | odt_ | %A{32,}
a Devin key | cog_ apk_ apk_user_ | %A{40,}
a Dropbox token | sl. | (?:u\.)?%W{110,}
a Dub key | dub_ | %A{24}
a Duffel token | duffel_live_ duffel_test_ | %W{40,}
an E2B key | e2b_ | %H{40}
an EasyPost key | EZTK | %A{54}
an Elastic key | essu_ | [A-Za-z0-9+/]{40,}={0,2}
an ElevenLabs key | sk_ | %H{48}
a Firecrawl key | fc- | %H{32}
a Fireworks key | fw_ | %A{22,}
a Fleetbase key | flb_live_ flb_test_ | %A{20,}
a Flutterwave key | FLWSECK- FLWSECK_TEST- FLWSECK_LIVE- | %A{12,}(?:-X)?
a Frame.io token | fio-u- | %W{64}
a Friendli token | flp_ | %A{46}
a Greptile key | grpt_ | %A{40,}
a Harness key | pat. sat. | %W{20,24}\.%A{24}\.%A{20}
a Heartland key | skapi_cert_ skapi_prod_ | %A{30,}
a Helicone key | sk-helicone- | %W{20,}
a Honeycomb key | hcaik_ hcbik_ hcxik_ hcaic_ hcamk_ hcalk_ | [a-z0-9]{26,64}
an Infracost key | ico- | %A{32}
an Intra42 secret | s-s4t2ud- s-s4t2af- | %H{64}
an Ionic token | ion_ | %A{42}
an Iterative token | isat_ | %W{36,}
a Jina key | jina_ | %A{50,}
a Klaviyo key | pk_ | [a-f0-9]{34}(?![A-Za-z0-9])
a Kolide key | k2sk_v1_ | %A{24}
a Langfuse key | sk-lf- | %U
a LaunchDarkly key | api- sdk- | %U
a Lob key | live_ test_ | %H{35}(?![A-Za-z0-9])
a Mem0 key | m0- | %A{40}
a Mercado Pago token | APP_USR- | [0-9]{16}-[0-9]{6}-%H{32}-[0-9]{6,10}
a Mergify key | mergify_application_key_ | %W{40,}
a Midtrans key | Mid-server- SB-Mid-server- | %W{16,}
a Mollie key | live_ | %A{30}(?![A-Za-z0-9])
a MongoDB key | mdb_sa_sk_ | %W{40}
a New Relic key | NRII- NRJS- NRAA- NRIQ- NRSP- NRRA- NRBR- NRAL- | %W{18,}
an Nvidia key | nvapi- | %W{60,}
a Nylas key | nyk_ nyk_v0_ | %A{60,}
an Octopus key | API- | [A-Z0-9]{24,}
an OpenAI key | sk-None- sk-proj- sk-svcacct- sk-admin- | %W{40,}
an OpenShift token | sha256~ | %W{43}
a Packagist token | packagist_ack_ packagist_acs_ packagist_cut_ packagist_ort_ packagist_out_ packagist_uut_ | %H{60,}
a Paddle key | pdl_live_apikey_ pdl_sdbx_apikey_ | [a-z0-9]{26}_%A{22}_%A{3}
a Paystack key | sk_test_ | (?:%H{40}|[a-z0-9]{40}(?![A-Za-z0-9]))
a Pinecone key | pcsk_ | %W{50,}
a Plaid token | access-sandbox- access-development- access-production- | %U
a Polar token | polar_oat_ polar_pat_ polar_at_ | %W{30,}
a PostHog key | phx_ phs_ pha_ phr_ | %W{40,}
a Postman token | PMAT- | [A-Z0-9]{26}
a Prefect key | pnu_ pnb_ | %A{36}
a Pterodactyl key | ptla_ ptlc_ | %A{43}
a PubNub key | sec-c- pub-c- | [A-Za-z0-9]{8}-%W{24,}
a pyx key | sk-pyx- | %W{40,}
a Razorpay key | rzp_live_ rzp_test_ | %A{14,}
a ReadMe key | rdme_ | %A{70}
a Riot key | RGAPI- | [A-Za-z0-9]{8}-%W{27}
a RunPod key | rpa_ | %A{40,}
a Scale key | live_ live_auth_ | %H{32}(?![A-Za-z0-9])
a Scalingo token | tk-us- tk-eu- tk-fr- | %W{48}
a Segment key | sgp_ | %W{40,}
a Sentry token | sntrya_ sntryi_ | %H{64}
a Settlemint token | sm_pat_ sm_aat_ sm_sat_ | %A{16}
a Shippo token | shippo_live_ shippo_test_ | %A{40}
a Shortcut token | sct_r_ sct_rs_ sct_rw_ sct_rwa_ sct_w_ | [a-z0-9-]{1,40}_%W{60,}
a Snyk token | snyk_uat. snyk_sat. | %W{20,}\.%W{20,}
a Sourcegraph token | slk_ sgs_ | %H{64}
a Spectral key | spu- | %H{32}
a Statsig key | secret- console- | %A{36,50}(?![A-Za-z0-9])
a Stytch secret | secret-live- secret-test- | %W{30,}
a Supabase token | sbp_ | %A{40}
a Tailscale key | tskey- | [a-z]{2,10}-%W{20,}
a Tavily key | tvly- tvly-dev- tvly-prod- | %A{30,}
a Tencent Cloud key id | AKID | %A{32}(?![A-Za-z0-9+/=])
a Together key | tgp_v1_ | %W{40,}
a Trello token | ATTA | %H{64,72}(?![A-Za-z0-9])
a Trigger.dev key | tr_dev_ tr_prod_ tr_stg_ tr_pat_ | %A{20,}
a Twitter token | AAAAAAAAAAAAAA | [A-Za-z0-9%_-]{60,}
a Typeform token | tfp_ | [A-Za-z0-9_.=-]{40,}
an Ubidots key | BBFF- | %A{30,}
an Unkey key | unkey_ | %A{20,}
an UpCloud token | ucat_ | %A{26}
a Val Town token | vtwn_ | %A{27,}
a Vercel token | vercel_blob_rw_ | %A{16,}_%A{16,}
a Voyage key | pa- | %W{43}
a WakaTime key | waka_ | %U
a Weights & Biases key | wandb_v1_ | %W{70,}
a WooCommerce key | ck_ cs_ | %H{40}
an Xata key | xau_ | %A{30,}
an Xendit key | xnd_production_ xnd_development_ | %A{40,}
a Yandex key | AQVN | %W{35,38}(?![A-Za-z0-9_-])
a Yandex token | y0_ | %W{50,}
a Zoho token | 1000. | %H{32}\.%H{32}
a Zuplo key | zpka_ | %A{32}_%H{8}
"""
