"""The files that deploy the service hold to their schemas, and to what the rest of the project expects of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import kubernetes_validate
import pytest

from interviewer.bootstrap import served_adapters
from interviewer.settings import Settings
from serving.deploy.lora_modules import arguments, find_adapters
from tests.adapters.kit import endpoint, models

from .kit import DEPLOY, documents, router_flags

KUBERNETES = DEPLOY / "kubernetes"
VERSION = "1.34"
"""Of Kubernetes; its schemas come with the package."""
ROUTED = {"api": ["router", "postgres"], "router": ["engine"], "engine": [], "postgres": []}
"""Whom each part may call."""


def compose() -> dict[str, Any]:
    (found,) = documents(DEPLOY / "compose.yaml")
    services: dict[str, Any] = found["services"]
    return services


def resources() -> list[dict[str, Any]]:
    (kustomization,) = documents(KUBERNETES / "kustomization.yaml")
    return [document for name in kustomization["resources"] for document in documents(KUBERNETES / name)]


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {found["metadata"]["name"]: found["spec"] for found in resources() if found["kind"] == kind}


def containers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    pod = spec["template"]["spec"]
    return [*pod.get("initContainers", []), *pod["containers"]]


WORKLOADS = {**of_kind("Deployment"), **of_kind("StatefulSet")}


class TestCompose:
    """compose.yaml."""

    def test_it_holds_to_the_compose_specification(self) -> None:
        checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
        done = subprocess.run([*checker, str(DEPLOY / "compose.yaml")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout

    def test_only_the_gateway_is_published_and_only_on_loopback(self) -> None:
        published = {name: service["ports"] for name, service in compose().items() if "ports" in service}
        assert published == {"gateway": ["127.0.0.1:${PORT:-8600}:8600"]}

    def test_engines_are_reached_by_the_router_alone(self) -> None:
        (found,) = documents(DEPLOY / "compose.yaml")
        for network in ("engines", "inference", "data"):
            assert found["networks"][network] == {"internal": True}
        members = {name: set(service.get("networks", [])) for name, service in compose().items()}
        assert {name for name, networks in members.items() if "engines" in networks} == {
            "engine-0",
            "engine-1",
            "router",
        }
        assert {name for name, networks in members.items() if "inference" in networks} == {"router", "api"}
        assert {name for name, networks in members.items() if "data" in networks} == {"postgres", "api"}

    def test_every_engine_is_a_worker_of_the_router(self) -> None:
        command = compose()["router"]["command"]
        workers = command[command.index("--worker-urls") + 1 :]
        assert workers == [f"http://{name}:8000" for name in compose() if name.startswith("engine")]

    def test_engines_read_base_and_adapters_and_change_neither(self) -> None:
        for name in ("engine-0", "engine-1"):
            base, adapters = compose()[name]["volumes"]
            assert (base["target"], base["read_only"]) == ("/models/base", True)
            assert adapters == "adapters:/adapters:ro"

    def test_everything_that_stays_up_has_a_health_check(self) -> None:
        assert [name for name, service in compose().items() if "healthcheck" not in service] == ["adapters"]

    def test_no_secret_is_written_down(self) -> None:
        text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
        passwords = re.findall(r"PASSWORD: (.*)|://[^/\s]*:([^/\s@]*)@", text)
        assert passwords == [("${POSTGRES_PASSWORD:?a password for the database}", "")] * 2


class TestKubernetes:
    """The kustomize folder."""

    @pytest.mark.parametrize("number", range(len(resources())))
    def test_a_resource_holds_to_its_schema(self, number: int) -> None:
        kubernetes_validate.validate(resources()[number], VERSION, strict=True)

    def test_every_file_is_part_of_it(self) -> None:
        (kustomization,) = documents(KUBERNETES / "kustomization.yaml")
        assert {path.name for path in KUBERNETES.iterdir()} == {"kustomization.yaml", *kustomization["resources"]}

    @pytest.mark.skipif(
        shutil.which("kubectl") is None, reason="kubectl is not installed; only it can build the folder"
    )
    def test_kubectl_builds_it(self, tmp_path: Path) -> None:
        done = subprocess.run(["kubectl", "kustomize", str(KUBERNETES)], capture_output=True, text=True, check=True)
        (tmp_path / "built.yaml").write_text(done.stdout, encoding="utf-8")
        built = documents(tmp_path / "built.yaml")
        assert len(built) == len(resources())
        for resource in built:
            kubernetes_validate.validate(resource, VERSION, strict=True)
            assert resource["kind"] == "Namespace" or resource["metadata"]["namespace"] == "interviewer"

    def test_the_router_is_the_one_of_compose_with_a_worker_per_engine(self) -> None:
        (router,) = containers(WORKLOADS["router"])
        split = router["args"].index("--worker-urls")
        assert [
            flag for flag in router["args"][:split] if not flag.startswith(("--host=", "--port="))
        ] == router_flags()
        engines = range(WORKLOADS["engine"]["replicas"])
        assert router["args"][split + 1 :] == [f"http://engine-{number}.engine:8000" for number in engines]
        assert WORKLOADS["engine"]["serviceName"] == "engine"
        assert of_kind("Service")["engine"]["clusterIP"] == "None", "each engine has an address of its own"

    def test_engines_are_started_as_in_compose(self) -> None:
        _, engine = containers(WORKLOADS["engine"])
        assert engine["args"] == compose()["engine-0"]["command"]
        assert engine["resources"]["limits"]["nvidia.com/gpu"] == 1
        mounts = {mount["mountPath"]: mount.get("readOnly") for mount in engine["volumeMounts"]}
        assert mounts == {"/models/base": True, "/adapters": True, "/dev/shm": None}

    def test_services_select_pods_that_there_are(self) -> None:
        for name, service in of_kind("Service").items():
            labels = WORKLOADS[name]["template"]["metadata"]["labels"]
            assert service["selector"] == labels == WORKLOADS[name]["selector"]["matchLabels"]
            ports = {port["name"] for container in containers(WORKLOADS[name]) for port in container.get("ports", [])}
            assert {port["targetPort"] for port in service["ports"]} <= ports

    def test_containers_have_probes_limits_and_no_more_rights_than_they_need(self) -> None:
        for name, workload in WORKLOADS.items():
            pod = workload["template"]["spec"]
            assert pod["automountServiceAccountToken"] is False, name
            for container in containers(workload):
                assert container["resources"]["limits"]["memory"], container["name"]
                assert container["securityContext"]["allowPrivilegeEscalation"] is False
                assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            for container in pod["containers"]:
                assert container["readinessProbe"]
                assert container["livenessProbe"]

    def test_what_has_replicas_keeps_one_while_nodes_are_drained(self) -> None:
        several = {name for name, workload in WORKLOADS.items() if workload["replicas"] > 1}
        assert set(of_kind("PodDisruptionBudget")) == several == {"engine", "router", "api"}

    def test_each_part_is_reached_by_whom_it_serves_alone(self) -> None:
        policies = of_kind("NetworkPolicy")
        assert policies["nothing"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
        callers: dict[str, list[str]] = {name: [] for name in ROUTED}
        for name in ROUTED:
            assert policies[name]["podSelector"]["matchLabels"] == {"app": name}
            for rule in policies[name].get("ingress", []):
                for peer in rule["from"]:
                    callers[name] += (
                        [peer["podSelector"]["matchLabels"]["app"]] if "podSelector" in peer else ["gateway"]
                    )
            called = [
                peer["podSelector"]["matchLabels"]["app"] for r in policies[name].get("egress", []) for peer in r["to"]
            ]
            assert called == ROUTED[name]
        assert callers == {"api": ["gateway"], "router": ["api"], "engine": ["router"], "postgres": ["api"]}

    def test_passwords_come_from_a_secret(self) -> None:
        for workload in WORKLOADS.values():
            for container in containers(workload):
                for variable in container.get("env", []):
                    if "PASSWORD" in variable["name"]:
                        assert variable["valueFrom"]["secretKeyRef"]["name"] == "interviewer-database"
                    else:
                        assert not re.search(r"://[^/\s]*:[^/\s]*@", variable["value"])
        assert "Secret" not in {resource["kind"] for resource in resources()}


def test_the_service_knows_every_setting_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    (api,) = WORKLOADS["api"]["template"]["spec"]["containers"]
    given = {variable["name"]: variable["value"] for variable in api["env"] if "value" in variable}
    elsewhere = ("PGPASSWORD", "FORWARDED_ALLOW_IPS")  # libpq's and uvicorn's; compose has a gateway of its own
    assert given == {name: value for name, value in compose()["api"]["environment"].items() if name not in elsewhere}
    for name, value in given.items():
        assert name.removeprefix("INTERVIEWER_").lower() in Settings.model_fields
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.engine_url == "http://router:8000/v1"
    assert settings.database() == "postgresql+psycopg://interviewer@postgres/interviewer"
    assert settings.tokenizer == Path("/models/base/tokenizer.json")


def test_the_router_in_the_image_is_the_one_that_is_tested() -> None:
    pinned = re.compile(r"vllm-router==(\S+?)\"?,?$", re.M)
    image = pinned.findall((DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace(" && ", "\n"))
    ours = pinned.findall((DEPLOY.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert image == ours
    assert compose()["router"]["image"].endswith(f":{image[0]}}}")


def ray() -> dict[str, Any]:
    (config,) = documents(DEPLOY / "ray-serve.yaml")
    (application,) = config["applications"]
    assert application["import_path"] == "ray.serve.llm:build_openai_app"
    (llm,) = application["args"]["llm_configs"]
    found: dict[str, Any] = llm
    return found


def test_ray_takes_fields_that_it_documents_and_serves_as_the_engines_do() -> None:
    # Names from Ray's reference of LLMConfig; its own models are asked below where they are installed.
    assert set(ray()) <= {
        *("model_loading_config", "engine_kwargs", "accelerator_type", "accelerator_config", "placement_group_config"),
        *("lora_config", "deployment_config", "runtime_env", "experimental_configs", "log_engine_metrics"),
    }
    assert ray()["model_loading_config"]["model_id"] == Settings.model_fields["engine_model"].default
    assert set(ray()["lora_config"]) == {"dynamic_lora_loading_path", "max_num_adapters_per_replica"}
    engine = " ".join(compose()["engine-0"]["command"])
    flags = {name.replace("-", "_"): value for name, value in re.findall(r"--([a-z-]+)=(\S+)", engine)}
    for name in ("max_model_len", "max_num_seqs", "max_num_batched_tokens", "gpu_memory_utilization", "seed"):
        assert str(ray()["engine_kwargs"][name]) == flags[name], name
    assert ray()["engine_kwargs"]["max_loras"] >= 6


def test_ray_accepts_its_configuration() -> None:
    llm = pytest.importorskip("ray.serve.llm", reason="Ray is not installed: 250 MB for one file")
    schema = pytest.importorskip("ray.serve.schema")
    (config,) = documents(DEPLOY / "ray-serve.yaml")
    schema.ServeDeploySchema.model_validate(config)
    llm.LLMConfig.model_validate(ray())


PARSE = """
import sys
from vllm.entrypoints.launchers.cli_args import FlexibleArgumentParser, make_arg_parser
given = make_arg_parser(FlexibleArgumentParser()).parse_args(sys.argv[1:])
print(given.model_tag, given.max_loras, *(module.name for module in given.lora_modules))
"""


@pytest.mark.engine
def test_vllm_takes_the_arguments_of_an_engine() -> None:
    (command,) = compose()["engine-0"]["command"]
    serve = re.fullmatch(r"exec vllm serve (.*) \$\$\(cat /adapters/lora\.args\)", command)
    assert serve is not None
    lora = arguments(find_adapters(DEPLOY.parents[1] / "personas"), PurePosixPath("/adapters"))
    argv = [sys.executable, "-c", PARSE, *serve[1].split(), *lora]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = [word.split("=")[0] for word in lora[lora.index("--lora-modules") + 1 :]]
    assert done.stdout.splitlines()[-1].split() == ["/models/base", str(len(names)), *names]


async def test_adapters_are_found_under_the_names_that_ray_gives_them() -> None:
    listed = models("base", "base:deep_dive@1a2b3c4d", "base:other@5e6f7a8b")
    async with endpoint(lambda _: listed) as api, api.client() as client:
        assert served_adapters([model.id async for model in client.models.list()]) == {
            "deep_dive": "base:deep_dive@1a2b3c4d"
        }
