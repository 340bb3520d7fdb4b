#include "connectors/manifests/schemas/tables.hpp"

namespace hindsight::connectors::manifests {

// The volumes of core/v1, Kubernetes 1.36.

std::string_view volume_table() {
  return R"(
@Volume
  awsElasticBlockStore
    fsType, volumeID!  string
    partition  int32
    readOnly  bool
  azureDisk
    cachingMode, diskName!, diskURI!, kind  string
    fsType  string default="ext4"
    readOnly  bool default=false
  azureFile
    readOnly  bool
    secretName!, shareName!  string
  cephfs
    monitors!  list<string>
    path, secretFile, user  string
    readOnly  bool
    secretRef  @LocalObjectReference
  cinder
    fsType, volumeID!  string
    readOnly  bool
    secretRef  @LocalObjectReference
  configMap
    defaultMode  int32
    items  list<@KeyToPath>
    name  string default=""
    optional  bool
  csi
    driver!, fsType  string
    nodePublishSecretRef  @LocalObjectReference
    readOnly  bool
    volumeAttributes  map<string>
  downwardAPI
    defaultMode  int32
    items  list<@DownwardFile>
  emptyDir
    medium  string
    sizeLimit  quantity
  ephemeral
    volumeClaimTemplate
      metadata  @TemplateMetadata
      spec!  @ClaimSpec
  fc
    fsType  string
    lun  int32
    readOnly  bool
    targetWWNs, wwids  list<string>
  flexVolume
    driver!, fsType  string
    options  map<string>
    readOnly  bool
    secretRef  @LocalObjectReference
  flocker
    datasetName, datasetUUID  string
  gcePersistentDisk
    fsType, pdName!  string
    partition  int32
    readOnly  bool
  gitRepo
    directory, repository!, revision  string
  glusterfs
    endpoints!, path!  string
    readOnly  bool
  hostPath
    path!, type  string
  image
    pullPolicy, reference  string
  iscsi
    chapAuthDiscovery, chapAuthSession, readOnly  bool
    fsType, initiatorName, iqn!, targetPortal!  string
    iscsiInterface  string default="default"
    lun!  int32
    portals  list<string>
    secretRef  @LocalObjectReference
  name!  string
  nfs
    path!, server!  string
    readOnly  bool
  persistentVolumeClaim
    claimName!  string
    readOnly  bool
  photonPersistentDisk
    fsType, pdID!  string
  portworxVolume
    fsType, volumeID!  string
    readOnly  bool
  projected
    defaultMode  int32
    sources  list
      clusterTrustBundle
        labelSelector  @LabelSelector
        name, path!, signerName  string
        optional  bool
      configMap
        items  list<@KeyToPath>
        name  string default=""
        optional  bool
      downwardAPI
        items  list<@DownwardFile>
      podCertificate
        certificateChainPath, credentialBundlePath, keyPath, keyType!, signerName!  string
        maxExpirationSeconds  int32
        userAnnotations  map<string>
      secret
        items  list<@KeyToPath>
        name  string default=""
        optional  bool
      serviceAccountToken
        audience, path!  string
        expirationSeconds  int64
  quobyte
    group, registry!, tenant, user, volume!  string
    readOnly  bool
  rbd
    fsType, image!  string
    keyring  string default="/etc/ceph/keyring"
    monitors!  list<string>
    pool  string default="rbd"
    readOnly  bool
    secretRef  @LocalObjectReference
    user  string default="admin"
  scaleIO
    fsType  string default="xfs"
    gateway!, protectionDomain, storagePool, system!, volumeName  string
    readOnly, sslEnabled  bool
    secretRef!  @LocalObjectReference
    storageMode  string default="ThinProvisioned"
  secret
    defaultMode  int32
    items  list<@KeyToPath>
    optional  bool
    secretName  string
  storageos
    fsType, volumeName, volumeNamespace  string
    readOnly  bool
    secretRef  @LocalObjectReference
  vsphereVolume
    fsType, storagePolicyID, storagePolicyName, volumePath!  string
@KeyToPath
  key!, path!  string
  mode  int32
@DownwardFile
  fieldRef  @FieldRef
  mode  int32
  path!  string
  resourceFieldRef  @ResourceFieldRef
@ClaimSpec
  accessModes  list<string>
  dataSource
    apiGroup, kind!, name!  string
  dataSourceRef
    apiGroup, kind!, name!, namespace  string
  resources
    limits, requests  map<quantity>
  selector  @LabelSelector
  storageClassName, volumeAttributesClassName, volumeMode, volumeName  string
)";
}

}  // namespace hindsight::connectors::manifests
