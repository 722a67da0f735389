import json
from tests.infra.transformed import *
def test_x() -> None:
    t = transformed()
    for k, v in t["Resources"].items():
        if "Permission" not in v["Type"]: print(k, v["Type"])
    print(len(t["Resources"]), len(json.dumps(t)))
    for p, m, o in routes():
        if "stream" in p or "upload_id" in p: print(p, m, json.dumps(o))
    print(json.dumps(resources("AWS::Lambda::Function")["ChatFunction"], indent=1))
    print(json.dumps({k: v for k, v in t["Resources"].items() if "RetentionFunctionDaily" in k or "RecordFailureFunctionF" in k or "Invoke" in k}, indent=1))
    a = transformed(("Streaming", "BUFFERED"))
    print([k for k in a["Resources"] if "ChatFunctionVersion" in k], [k for k in t["Resources"] if "ChatFunctionVersion" in k])
    for p, m, o in routes(a):
        if "stream" in p: print(p, m, json.dumps(o))
    b = copy.deepcopy(source()); b["Resources"]["TertuliaLayer"]["Properties"]["ContentUri"] = "layers/changed"
    print([k for k in transform(b, {})["Resources"] if "ChatFunctionVersion" in k])
    print(json.dumps(t["Resources"]["Api"]["Properties"]["Body"]["components"], indent=1), t["Resources"]["Api"]["Properties"]["Body"].get("security"))
