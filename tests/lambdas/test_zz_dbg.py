"""Debug."""
import httpx
from tests.lambdas.cloud import LocalCloud
def test_dbg(local_deployment: LocalCloud) -> None:
    t = local_deployment.token_of("ana")
    with httpx.Client(base_url=local_deployment.url, timeout=60, trust_env=False) as api:
        r = api.put("/api/me/settings", headers={"Authorization": "Bearer "+t}, json={"voice":"troy"})
        print(r.status_code, r.text, r.headers)
        r = api.post("/api/session", json={"token":t})
        print(r.status_code, r.text, r.headers)
    for n in ("AuthorizerFunction","AccountFunction"):
        print(n, *local_deployment.host.logs[n][-30:], sep="\n")
    assert False
